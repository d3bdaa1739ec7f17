// Package permissions proves on the embedded cluster who may let extensions act as whom, and that what the check of permissions tells is
// what the API server asks for. It holds tests only. Start reading at policies_test.go and rules_test.go.
package permissions
