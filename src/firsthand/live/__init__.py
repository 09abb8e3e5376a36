"""The joints: the only room that joins the others. Each module here is one of the places where two rooms meet."""
