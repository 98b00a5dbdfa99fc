import "@weft/editor/theme.css";
