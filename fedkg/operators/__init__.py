"""Pure functions over completed sets: values read and compared, sets combined, counted, ordered and grouped. No I/O."""
