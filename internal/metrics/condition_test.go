package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConditions(t *testing.T) {
	m := NewConditions("ClusterKite")
	m.Seen("a", Condition{"Serving", "True", "Available"}, Condition{"Progressing", "Unknown", "Failed"})
	m.Seen("b", Condition{"Serving", "False", "Unavailable"})
	const kind = "# TYPE fairlead_clusterkite_condition gauge"
	want := []string{
		kind,
		`fairlead_clusterkite_condition{name="a",reason="Available",type="Serving"} 1`,
		`fairlead_clusterkite_condition{name="a",reason="Failed",type="Progressing"} -1`,
		`fairlead_clusterkite_condition{name="b",reason="Unavailable",type="Serving"} 0`,
	}
	if diff := cmp.Diff(want, scrape(t, m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.Seen("a", Condition{"Serving", "False", "Unavailable"}) // what was said before is said no more
	m.Gone("b")
	if diff := cmp.Diff([]string{kind, `fairlead_clusterkite_condition{name="a",reason="Unavailable",type="Serving"} 0`}, scrape(t, m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var none *Conditions
	none.Seen("a")
	none.Gone("a")
}
