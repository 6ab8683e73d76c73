"""Files and objects that hold runs and qrels; FORMATS lists the file formats."""
