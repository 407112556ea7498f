package bank

import "testing"

// The generated tests make the accounts as the spec has them. Here the same cases are played over
// the table that the core bank's own migration makes: with its trigger, its defaults, and columns
// that the spec does not know. A migration of theirs that we cannot work with fails here first.
func TestCasesOverTheCoreBanksOwnTable(t *testing.T) {
	service := testService()
	service.External = "corebank/0001_account.sql"
	service.RunCases(t)
}
