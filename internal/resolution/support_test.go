package resolution

import (
	"errors"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestJudgeSupport(t *testing.T) {
	begins, ends := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	l := catalog.Lifecycle{Versions: []catalog.LifecycleVersion{{Name: "1.0", Phases: []catalog.LifecyclePhase{{Name: "Full", Start: begins, End: ends}}}}}
	of := func(text string) version.VersionRelease {
		return version.VersionRelease{Version: must.Value(version.Parse(text))(t)}
	}
	for name, c := range map[string]struct {
		version string
		wrong   error
		at      time.Time
		want    SupportVerdict
		in      time.Duration
	}{
		"before":     {"1.0.3", nil, begins.Add(-time.Hour), SupportVerdict{metav1.ConditionFalse, "NotYet", "not supported yet", begins}, time.Hour},
		"in a phase": {"1.0.3", nil, ends.Add(-time.Hour), SupportVerdict{metav1.ConditionTrue, "Supported", "Full, supported until 2026-12-31", ends}, time.Hour},
		"after":      {"1.0.3", nil, ends, SupportVerdict{metav1.ConditionFalse, "Ended", "support ended on 2026-12-31", time.Time{}}, 0},
		"of another": {"2.0.0", nil, ends, SupportVerdict{metav1.ConditionUnknown, "NoData", "no data: catalog cat does not say how long b is supported", time.Time{}}, 0},
		"unreadable": {"2.0.0", errors.New("it is no date"), ends, SupportVerdict{metav1.ConditionUnknown, "NoData", "no data: it is no date", time.Time{}}, 0},
		"in part":    {"1.0.0", errors.New("it is no date"), begins, SupportVerdict{metav1.ConditionTrue, "Supported", "Full, supported until 2026-12-31", ends}, ends.Sub(begins)},
	} {
		got := JudgeSupport("b", of(c.version), "cat", l, c.wrong, c.at)
		if diff := cmp.Diff(c.want, got); diff != "" || got.In(c.at) != c.in {
			t.Errorf("%s, in %s: %s", name, got.In(c.at), diff)
		}
	}
}
