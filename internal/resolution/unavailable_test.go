package resolution

import (
	"errors"
	"testing"

	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestUnavailableCatalogsAreThoseThatWouldBeAsked has the archives of catalogs without content, and which Subscriptions they concern.
func TestUnavailableCatalogsAreThoseThatWouldBeAsked(t *testing.T) {
	dead := []catalog.Ref{{Namespace: "olm", Name: "dead"}}
	for file, want := range map[string]map[string][]catalog.Ref{
		"dependency-dead-catalog.txtar":       {"b": dead, "c": nil},
		"dependency-dead-catalog-after.txtar": {},
	} {
		t.Run(file, func(t *testing.T) {
			archive := must.Value(txtar.ParseFile("testdata/namespace/" + file))(t)
			result := namespace(t, scenarioRequest(t, archive))
			got := map[string][]catalog.Ref{}
			for _, g := range result.Groups {
				var conflict *Conflict
				errors.As(g.Err, &conflict)
				for _, name := range g.Subscriptions {
					if _, asked := want[name]; conflict != nil || asked {
						got[name] = nil
					}
					if conflict != nil {
						got[name] = conflict.Unavailable
					}
				}
			}
			must.Equal(t, "got", got, want)
		})
	}
}
