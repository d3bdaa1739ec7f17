package reconcile

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

var startTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func operator(phase v1alpha1.ClusterServiceVersionPhase, age time.Duration) v1alpha1.ClusterServiceVersion {
	at := metav1.NewTime(startTime.Add(-age))
	return v1alpha1.ClusterServiceVersion{Status: v1alpha1.ClusterServiceVersionStatus{Phase: phase, LastUpdateTime: &at}}
}

func TestUntilQuiet(t *testing.T) {
	installing, stuck := operator(v1alpha1.CSVPhaseInstalling, time.Second), operator(v1alpha1.CSVPhasePending, time.Minute)
	done := operator(v1alpha1.CSVPhaseSucceeded, 0)
	copied := operator(v1alpha1.CSVPhaseInstalling, 0)
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}
	fresh := v1alpha1.ClusterServiceVersion{}
	fresh.CreationTimestamp = metav1.NewTime(startTime.Add(-2 * time.Second))
	failed, finished := operator(v1alpha1.CSVPhaseFailed, 0), operator(v1alpha1.CSVPhaseSucceeded, MaxQuietWait-time.Second/2)
	waiting, longest := operator(v1alpha1.CSVPhaseSucceeded, 2*QuietPeriod), operator(v1alpha1.CSVPhaseSucceeded, MaxQuietWait)
	ahead, slightly := operator(v1alpha1.CSVPhaseInstalling, -time.Hour), operator(v1alpha1.CSVPhaseInstalling, -time.Second)
	for name, c := range map[string]struct {
		csv    v1alpha1.ClusterServiceVersion
		others []v1alpha1.ClusterServiceVersion
		want   time.Duration
	}{
		"being installed":                     {installing, nil, QuietPeriod - time.Second},
		"just created":                        {fresh, nil, QuietPeriod - 2*time.Second},
		"stuck":                               {stuck, nil, 0},
		"runs":                                {done, []v1alpha1.ClusterServiceVersion{done}, 0},
		"failed":                              {failed, []v1alpha1.ClusterServiceVersion{failed}, 0},
		"runs, another is being installed":    {done, []v1alpha1.ClusterServiceVersion{done, installing}, recheck},
		"runs long, another is installed yet": {finished, []v1alpha1.ClusterServiceVersion{installing}, time.Second / 2},
		"runs a while, another is installed":  {waiting, []v1alpha1.ClusterServiceVersion{installing}, recheck},
		"runs longest, another is installed":  {longest, []v1alpha1.ClusterServiceVersion{installing}, 0},
		"runs, another is stuck":              {done, []v1alpha1.ClusterServiceVersion{stuck}, 0},
		"changed in the future":               {ahead, nil, 0},
		"changed a little in the future":      {slightly, nil, QuietPeriod},
		"runs, another will have changed":     {done, []v1alpha1.ClusterServiceVersion{ahead}, 0},
		"runs, a copy lags behind":            {done, []v1alpha1.ClusterServiceVersion{copied}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := UntilQuiet(&c.csv, startTime, func() ([]v1alpha1.ClusterServiceVersion, error) { return c.others, nil })
			if max(got, 0) != c.want || err != nil {
				t.Errorf("wait %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// TestOthersAreReadWhereTheyMatter: not for operators that have been at rest for long, which are most.
func TestOthersAreReadWhereTheyMatter(t *testing.T) {
	unreadable := func() ([]v1alpha1.ClusterServiceVersion, error) { return nil, errors.New("unreadable") }
	old, recent := operator(v1alpha1.CSVPhaseSucceeded, time.Hour), operator(v1alpha1.CSVPhaseSucceeded, 0)
	if _, err := UntilQuiet(&old, startTime, unreadable); err != nil {
		t.Errorf("for one that is at rest: %v", err)
	}
	if _, err := UntilQuiet(&recent, startTime, unreadable); err == nil {
		t.Error("others that cannot be read are taken for none")
	}
}
