package maintain

// Apart is the comparison of clocks.
var Apart = apart
