package messages

import (
	"errors"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestUnseen: what is not seen, by whom, and what follows, in one line.
func TestUnseen(t *testing.T) {
	for said, want := range map[string]string{
		`catalogsources.operators.coreos.com is forbidden: User "dev" cannot list resource "catalogsources" in API group "operators.coreos.com" in the namespace "olm"`: "X cannot be listed as user dev: y",
		`clusterextensions "a" is forbidden: User "system:serviceaccount:team:dev" cannot get resource "clusterextensions" at the cluster scope`:                        "X cannot be read as user system:serviceaccount:team:dev: y",
		`x is forbidden: no`: "X cannot be read by this user: y",
	} {
		must.Equal(t, said, Unseen(errors.New(said), "X", "y"), want)
	}
	must.Equal(t, "no error", Unseen(nil, "X", "y"), "X cannot be read by this user: y")
}
