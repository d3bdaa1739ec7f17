package clusterserviceversion

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	archive "fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// allPhases are the phases of the API; allReasons those of the table that matter to it.
var (
	allPhases  = in(toNone, toPending, toInstallReady, toInstalling, toSucceeded, toFailed, toReplacing, toDeleting)
	anyReason  = reason("")
	allReasons = func() []reason {
		found := map[reason]bool{anyReason: true}
		for i := range table {
			for _, r := range table[i].reasons {
				found[r] = true
			}
		}
		return slices.Sorted(maps.Keys(found))
	}()
)

// TestTable holds every cell of the table, (phase, reason, observation) to next state, against the golden file. What
// leads to the same as no observation at all is left out there, and a reason stands there only where it matters.
func TestTable(t *testing.T) {
	var text strings.Builder
	for _, from := range allPhases {
		plain := state{from, anyReason}
		fmt.Fprintf(&text, "%s\n    otherwise: %s\n", orNone(from), cell(t, plain, always))
		for _, o := range slices.Sorted(maps.Keys(observers)) {
			general := cell(t, plain, o)
			if general != cell(t, plain, always) {
				fmt.Fprintf(&text, "    %s: %s\n", o, general)
			}
			for _, because := range allReasons {
				special := cell(t, state{from, because}, o)
				if special != general && (o == always || special != cell(t, state{from, because}, always)) {
					fmt.Fprintf(&text, "    %s, having %s: %s\n", o, because, special)
				}
			}
		}
	}
	golden(t, "testdata/table.golden", text.String())
}

func orNone(p phase) string {
	if p == toNone {
		return "None"
	}
	return string(p)
}

func cell(t *testing.T, from state, o observation) string {
	t.Helper()
	row, found, err := decide(from, func(asked observation) (finding, error) {
		return finding{holds: asked == o || asked == always, detail: "DETAIL"}, nil
	})
	must.NoError(t, err)
	if row == nil {
		return "stays"
	}
	var parts []string
	if row.do != none {
		parts = append(parts, "do "+string(row.do))
	}
	switch next := row.next(from); {
	case row.to == "" && row.because == "":
		parts = append(parts, "stays")
	case row.because == "":
		parts = append(parts, fmt.Sprintf("-> %s", next.phase))
	default:
		parts = append(parts, fmt.Sprintf("-> %s/%s", next.phase, next.reason))
	}
	if row.message != "" {
		parts = append(parts, fmt.Sprintf("%q", row.text(found, "")))
	}
	if row.rest {
		parts = append(parts, "rest")
	}
	return strings.Join(parts, " ")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if archive.Updating() {
		must.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to make it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestEveryRowCanBeReached finds rows that an earlier row always hides.
func TestEveryRowCanBeReached(t *testing.T) {
	for i := range table {
		row := &table[i]
		reached := false
		for _, from := range row.from {
			for _, because := range append(slices.Clone(row.reasons), anyReason) {
				got, _, err := decide(state{from, because}, func(o observation) (finding, error) { return finding{holds: o == row.when}, nil })
				reached = reached || err == nil && got == row
			}
		}
		if !reached {
			t.Errorf("row %d, from %v when %s, is never reached", i, row.from, row.when)
		}
	}
}

// TestEveryObservationIsUsed finds observations that no row asks for, and rows that ask for what no one observes.
func TestEveryObservationIsUsed(t *testing.T) {
	asked := map[observation]bool{}
	for i := range table {
		asked[table[i].when] = true
	}
	must.Equal(t, "observations of the table", slices.Sorted(maps.Keys(asked)), slices.Sorted(maps.Keys(observers)))
}

// TestEveryPhaseHasAReason makes sure that no row leads to a phase without saying why.
func TestEveryPhaseHasAReason(t *testing.T) {
	for i := range table {
		row := &table[i]
		if row.to != "" && (row.because == "" || row.message == "") {
			t.Errorf("row %d, from %v when %s, leads to %s without reason or message", i, row.from, row.when, row.to)
		}
		if strings.Count(row.message, "{detail}") > 1 {
			t.Errorf("row %d: message %q tells the detail twice", i, row.message)
		}
	}
}

// pretence is a cluster where some observations hold, and where actions make some hold no more.
type pretence struct {
	holds  map[observation]bool
	undoes map[action][]observation
	done   []action
}

func (f *pretence) look(_ context.Context, o observation) (finding, error) {
	return finding{holds: o == always || f.holds[o], detail: "DETAIL"}, nil
}

func (f *pretence) do(_ context.Context, a action) error {
	f.done = append(f.done, a)
	for _, o := range f.undoes[a] {
		delete(f.holds, o)
	}
	return nil
}

// asUsual is what actions achieve when all goes well.
var asUsual = map[action][]observation{
	adopt:        {metadataDiffers},
	install:      {notInstalled, deploymentsMissing, deploymentsChanged, apiServicesBroken, certificatesDue, notComputable},
	correct:      {drifted},
	registerHook: {webhooksMissing},
}

func TestPasses(t *testing.T) {
	tests := map[string]struct {
		from  state
		holds []observation
		want  []string
		done  []action
	}{
		"a new CSV whose requirements are missing": {
			holds: []observation{metadataDiffers, requirementsNotMet},
			want:  []string{"Pending/RequirementsUnknown", "Pending/RequirementsNotMet"},
			done:  []action{adopt},
		},
		"a new CSV is installed in one pass, up to the Deployments": {
			holds: []observation{metadataDiffers, notInstalled, deploymentsMissing, deploymentsUnready},
			want:  []string{"Pending/RequirementsUnknown", "InstallReady/AllRequirementsMet", "Installing/InstallSucceeded", "Installing/InstallWaiting"},
			done:  []action{adopt, install},
		},
		"webhooks are registered once the Deployments are available": {
			from:  state{toInstalling, v1alpha1.CSVReasonWaiting},
			holds: []observation{webhooksMissing},
			want:  []string{"Succeeded/InstallSucceeded"},
			done:  []action{registerHook},
		},
		"webhooks wait for the Deployments": {
			from:  state{toInstalling, v1alpha1.CSVReasonWaiting},
			holds: []observation{webhooksMissing, deploymentsUnready},
		},
		"a Deployment is deleted": {
			from:  state{toSucceeded, v1alpha1.CSVReasonInstallSuccessful},
			holds: []observation{notInstalled, deploymentsMissing, deploymentsUnready},
			want: []string{"Failed/ComponentUnhealthy", "Pending/NeedsReinstall", "InstallReady/AllRequirementsMet",
				"Installing/InstallSucceeded", "Installing/InstallWaiting"},
			done: []action{install},
		},
		"a Deployment is edited": {
			from:  state{toSucceeded, v1alpha1.CSVReasonInstallSuccessful},
			holds: []observation{drifted},
			done:  []action{correct},
		},
		"the CSV is edited": {
			from:  state{toSucceeded, v1alpha1.CSVReasonInstallSuccessful},
			holds: []observation{notInstalled, deploymentsChanged, deploymentsUnready},
			want:  []string{"InstallReady/ComponentUnhealthy", "Installing/InstallSucceeded", "Installing/InstallWaiting"},
			done:  []action{install},
		},
		"a certificate is due": {
			from:  state{toSucceeded, v1alpha1.CSVReasonInstallSuccessful},
			holds: []observation{notInstalled, certificatesDue, deploymentsUnready},
			want: []string{"Pending/NeedsCertRotation", "InstallReady/AllRequirementsMet", "Installing/InstallSucceeded",
				"Installing/InstallWaiting"},
			done: []action{install},
		},
		"an install that is refused rests": {
			from:  state{toInstallReady, v1alpha1.CSVReasonRequirementsMet},
			holds: []observation{notInstalled, installRefused, installFailed, deploymentsMissing, stillRefused},
			want:  []string{"Failed/InstallComponentFailedNoRetry"},
			done:  []action{install},
		},
		"an install that was refused is tried again once it would not be": {
			from:  state{toFailed, v1alpha1.CSVReasonComponentFailedNoRetry},
			holds: []observation{notInstalled, deploymentsMissing, deploymentsUnready},
			want: []string{"Pending/DetectedClusterChange", "InstallReady/AllRequirementsMet", "Installing/InstallSucceeded",
				"Installing/InstallWaiting"},
			done: []action{install},
		},
		"an install that runs out of time rests": {
			from:  state{toInstalling, v1alpha1.CSVReasonWaiting},
			holds: []observation{installTimedOut, deploymentsUnready},
			want:  []string{"Failed/InstallCheckFailed"},
		},
		"an install that ran out of time does not begin again": {
			from:  state{toFailed, v1alpha1.CSVReasonInstallCheckFailed},
			holds: []observation{deploymentsUnready},
		},
		"an install that ran out of time succeeds late": {
			from: state{toFailed, v1alpha1.CSVReasonInstallCheckFailed},
			want: []string{"Succeeded/InstallSucceeded"},
		},
		"the group is back": {
			from: state{toFailed, v1alpha1.CSVReasonNoOperatorGroup},
			want: []string{"Pending/RequirementsUnknown", "InstallReady/AllRequirementsMet", "Installing/InstallSucceeded", "Succeeded/InstallSucceeded"},
		},
		"a replaced CSV goes": {
			from:  state{toSucceeded, v1alpha1.CSVReasonInstallSuccessful},
			holds: []observation{replaced, successorInstalled},
			want:  []string{"Replacing/BeingReplaced", "Deleting/Replaced"},
		},
		"a CSV on its way out needs no group": {
			from:  state{toReplacing, v1alpha1.CSVReasonBeingReplaced},
			holds: []observation{noGroup, successorInstalled},
			want:  []string{"Deleting/Replaced"},
		},
		"a CSV that was replaced is deleted": {
			from: state{toDeleting, v1alpha1.CSVReasonReplaced},
			done: []action{deleteSelf},
		},
		"an install that ran out of time is healed": {
			from:  state{toFailed, v1alpha1.CSVReasonInstallCheckFailed},
			holds: []observation{drifted, deploymentsUnready},
			done:  []action{correct},
		},
		"a phase that nobody knows": {
			from:  state{"Dancing", "Dancing"},
			holds: []observation{requirementsNotMet},
			want:  []string{"Pending/RequirementsUnknown", "Pending/RequirementsNotMet"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			around := &pretence{holds: map[observation]bool{}, undoes: asUsual}
			for _, o := range tc.holds {
				around.holds[o] = true
			}
			status := &v1alpha1.ClusterServiceVersionStatus{}
			if tc.from.phase != toNone {
				status.SetPhase(tc.from.phase, tc.from.reason, "", metav1.Now())
			}
			history := len(status.Conditions)
			steps := must.Value(walk(t.Context(), status, around, metav1.Now()))(t)
			var got []string
			for _, s := range steps {
				got = append(got, fmt.Sprintf("%s/%s", s.phase, s.reason))
			}
			must.Equal(t, "steps", got, tc.want)
			must.Equal(t, "actions", around.done, tc.done)
			must.Equal(t, "new entries of the history", len(status.Conditions)-history, len(tc.want))
		})
	}
}

// FuzzWalk lets any observations hold, some of which actions do not mend: every pass ends, soon, and says so when it
// goes round in circles.
func FuzzWalk(f *testing.F) {
	f.Add(uint64(0), uint8(0), uint8(0), true)
	f.Add(^uint64(0), uint8(4), uint8(3), false)
	names := slices.Sorted(maps.Keys(observers))
	f.Fuzz(func(t *testing.T, bits uint64, from, because uint8, works bool) {
		around := &pretence{holds: map[observation]bool{}}
		if works {
			around.undoes = asUsual
		}
		for i, o := range names {
			around.holds[o] = bits>>i&1 == 1
		}
		status := &v1alpha1.ClusterServiceVersionStatus{
			Phase:  allPhases[int(from)%len(allPhases)],
			Reason: allReasons[int(because)%len(allReasons)],
		}
		before := status.DeepCopy()
		steps, err := walk(t.Context(), status, around, metav1.Now())
		if len(steps) > len(allPhases)*2 {
			t.Errorf("%d steps in one pass", len(steps))
		}
		if err == nil && stateOf(status) != stateOf(before) && len(steps) == 0 {
			t.Error("the state changed without a step")
		}
		// The same again from where it ended changes nothing, unless an action has changed something meanwhile.
		if err != nil || len(around.done) > 0 {
			return
		}
		again := status.DeepCopy()
		more, err := walk(t.Context(), again, around, metav1.Now())
		if more = settle(status, again, more, false); err == nil && len(more) > 0 && !(len(steps) > 0 && steps[len(steps)-1].phase == toFailed) {
			t.Errorf("from %v with %b: %v, and then %v", before.Phase, bits, steps, more)
		}
	})
}

func TestSettle(t *testing.T) {
	old := metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	now := metav1.NewTime(old.Add(time.Hour))
	before := v1alpha1.ClusterServiceVersionStatus{}
	before.SetPhase(toFailed, v1alpha1.CSVReasonComponentFailed, "no", old)

	after := before.DeepCopy()
	after.SetPhase(toPending, v1alpha1.CSVReasonNeedsReinstall, "again", now)
	after.SetPhase(toFailed, v1alpha1.CSVReasonComponentFailed, "no", now)
	if steps := settle(&before, after, []step{{}}, false); steps != nil || cmp.Diff(&before, after) != "" {
		t.Errorf("a pass that led nowhere leaves %v and:\n%s", steps, cmp.Diff(&before, after))
	}

	after.SetPhase(toPending, v1alpha1.CSVReasonNeedsReinstall, "again", now)
	after.SetPhase(toFailed, v1alpha1.CSVReasonComponentFailed, "still no", now)
	settle(&before, after, []step{{}}, false)
	if !after.LastTransitionTime.Equal(&old) || !after.LastUpdateTime.Equal(&now) || len(after.Conditions) != 1 || after.Message != "still no" {
		t.Errorf("a pass that led to nothing but another message leaves %+v", after)
	}

	after.SetPhase(toPending, v1alpha1.CSVReasonNeedsReinstall, "again", now)
	if steps := settle(&before, after, []step{{}}, false); len(steps) != 1 || len(after.Conditions) != 2 {
		t.Errorf("a pass that led elsewhere leaves %v and %+v", steps, after.Conditions)
	}
}
