package reconcile

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

// TestVerdicts: each verdict from each other one, beside a condition that is none of its own. Times move where the status of a condition does.
func TestVerdicts(t *testing.T) {
	verdicts := map[string]struct {
		verdict Verdict
		want    []string
	}{
		"done":        {Done("R", "m"), []string{"Ready=True/R: m"}},
		"in progress": {Progressing("R", "m"), []string{"Ready=False/R: m", "Reconciling=True/R: m"}},
		"unknown":     {Unknown("R", "m"), []string{"Ready=Unknown/R: m", "Reconciling=True/R: m"}},
		"stalled":     {Stalled("R", "m"), []string{"Ready=False/R: m", "Stalled=True/R: m"}},
		"held":        {Held("R", "m"), []string{"Ready=False/R: m"}},
		"none":        {Verdict{Reason: "R", Message: "m"}, []string{"Ready=False/R: m", "Reconciling=True/R: m"}}, // never done by mistake
	}
	for before, from := range verdicts {
		for after, to := range verdicts {
			t.Run(before+" to "+after, func(t *testing.T) {
				conditions := []metav1.Condition{{Type: "Installed", Status: "True", Reason: "Kept"}}
				from.verdict.Set(&conditions, 6, metav1.Unix(1, 0))
				was := map[string]metav1.Condition{}
				for _, c := range conditions {
					was[c.Type] = c
				}
				to.verdict.Set(&conditions, 7, metav1.Unix(2, 0))
				var got []string
				for _, c := range conditions {
					if c.Type == "Installed" {
						must.Equal(t, "another condition", c, metav1.Condition{Type: "Installed", Status: "True", Reason: "Kept"})
						continue
					}
					got = append(got, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
					must.Equal(t, "generation of "+c.Type, c.ObservedGeneration, int64(7))
					if moved := was[c.Type].Status != c.Status; moved != c.LastTransitionTime.Equal(&metav1.Time{Time: metav1.Unix(2, 0).Time}) {
						t.Errorf("%s went from %q to %s and says so since %s", c.Type, was[c.Type].Status, c.Status, c.LastTransitionTime)
					}
				}
				must.Equal(t, "conditions", got, to.want)
				again := append([]metav1.Condition(nil), conditions...)
				to.verdict.Set(&again, 7, metav1.Unix(3, 0))
				must.Equal(t, "the same verdict later", again, conditions)
			})
		}
	}
}
