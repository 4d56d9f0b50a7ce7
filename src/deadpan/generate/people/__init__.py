"""People in the loop: review of what a model found abnormal, judgments, construction of the data set."""
