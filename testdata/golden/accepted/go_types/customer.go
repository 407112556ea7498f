package till

// CustomerID is a customer's number.
type CustomerID string
