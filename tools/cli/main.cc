// weft: runs, checks, tests and draws block-graph pages. In a package the commands are in a library of which there is a build for each level of
// processors; this much is the same for all.

extern "C" int weft_command_main(int argc, char** argv);

int main(int argc, char** argv) { return weft_command_main(argc, argv); }
