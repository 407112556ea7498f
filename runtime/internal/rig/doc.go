// Package rig is what the tests of the runtime's packages share: a spec whose records say what
// they do, its consumer, a database with one table, a Source that is the test, clocks, and what a
// test waits for. These tests are in the packages that they test. Package rig links all of these,
// so a test that uses it is in an external test package (package handler_test). Only tests import
// it.
//
// It must not import any package of this module but door, effects, engine, fault, generation,
// hook, idem, idemtest, keys, lease, longtest, memlease, operate, protocol, templates, testleases,
// transcript and wire.
package rig
