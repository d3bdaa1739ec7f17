package clusterobjectset

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// asked is what the manager asks.
var asked = &harness.Requests{}

// of are the requests about a name: the last part of what was asked for, by method.
func of(name string) []string {
	var out []string
	for _, a := range asked.All() {
		if strings.Contains(a, "/"+name) {
			out = append(out, strings.Fields(a)[0]+" "+a[strings.LastIndex(a, "/")+1:])
		}
	}
	return out
}

// rest waits until the manager has asked nothing about a name for a second, and returns all that it has asked.
func (w *world) rest(name string) []string {
	w.Helper()
	return harness.Rest(w.T, func() []string { return of(name) })
}

// TestOneLookAtWhatChanged: of a revision that is complete, a change makes the manager read the object that has changed, and nothing else: what it is
// to be is remembered. It writes nothing where nothing is to be healed.
func TestOneLookAtWhatChanged(t *testing.T) {
	w := newWorld(t)
	w.revise(1, nil, w.configMap("config", "1"), w.configMap("other", "1"), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	before := len(w.rest(w.Namespace))
	w.edit("v1", "ConfigMap", "config", func(o map[string]any) { o["data"].(map[string]any)["more"] = "theirs" })
	must.Eventually(w, "the manager to look", func() error {
		if len(of(w.Namespace)) == before {
			return errNotYet
		}
		return nil
	})
	got := w.rest(w.Namespace)[before:]
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, []string{"GET config"}) {
		t.Errorf("the manager asked %v", got)
	}
}
