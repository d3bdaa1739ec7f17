package metrics

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
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
	must.Equal(t, "scrape", scrape(t, m), want)
	m.Seen("a", Condition{"Serving", "False", "Unavailable"}) // what was said before is said no more
	m.Gone("b")
	must.Equal(t, "scrape", scrape(t, m), []string{kind, `fairlead_clusterkite_condition{name="a",reason="Unavailable",type="Serving"} 0`})
	var none *Conditions
	none.Seen("a")
	none.Gone("a")
}
