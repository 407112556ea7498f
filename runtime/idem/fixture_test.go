package idem_test
