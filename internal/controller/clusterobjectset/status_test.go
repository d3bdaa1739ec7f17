package clusterobjectset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// TestConditions is the table of what is told of an active set.
func TestConditions(t *testing.T) {
	const (
		rollingOut = "Progressing=True/RollingOut: Revision 1.2.3 is rolling out."
		rolledOut  = "Progressing=True/Succeeded: Revision 1.2.3 has rolled out."
		available  = "Available=True/ProbesSucceeded: All objects are there and available."
		incomplete = "Available=False/RollingOut: Revision 1.2.3 is rolling out."
		succeeded  = "Succeeded=True/Succeeded: Revision 1.2.3 has rolled out."
	)
	blocked := fmt.Errorf("read: %w", &revision.BlockedError{Message: "not immutable"})
	complete := outcome{complete: true}
	waiting := outcome{missing: []string{"Object ConfigMap.v1 ns/a: not yet", "Object ConfigMap.v1 ns/b: not yet"}}
	looping := outcome{missing: waiting.missing, loops: true}
	probing := "Available=False/ProbeFailure: Object ConfigMap.v1 ns/a: not yet\nObject ConfigMap.v1 ns/b: not yet"
	failed := outcome{err: errors.New("create ConfigMap ns/a: no")}
	tests := map[string]struct {
		before []outcome
		now    outcome
		after  time.Duration // since the set was made; its deadline is after 10 minutes
		want   []string
		ready  string
	}{
		"begins":        {ready: "False/RollingOut Reconciling", now: outcome{}, want: []string{rollingOut, incomplete}},
		"waits":         {ready: "False/RollingOut Reconciling", now: waiting, want: []string{rollingOut, probing}},
		"complete":      {ready: "True/Succeeded", now: complete, want: []string{rolledOut, available, succeeded}},
		"in transition": {ready: "False/RollingOut Reconciling", before: []outcome{complete}, now: outcome{complete: true, transition: true}, want: []string{rollingOut, available, succeeded}},
		"overtaken":     {ready: "False/RollingOut Reconciling", now: outcome{complete: true, transition: true}, want: []string{rollingOut, incomplete}},
		"overtaken for long": {ready: "False/ProgressDeadlineExceeded Stalled", now: outcome{complete: true, transition: true}, after: time.Hour, want: []string{
			"Progressing=False/ProgressDeadlineExceeded: Revision has not rolled out for 10 minute(s). Last status: Revision 1.2.3 is rolling out.", incomplete}},
		"fails first":             {ready: "False/Retrying Reconciling", now: failed, want: []string{"Progressing=True/Retrying: create ConfigMap ns/a: no"}},
		"fails later":             {ready: "False/Retrying Reconciling", before: []outcome{complete}, now: failed, want: []string{"Progressing=True/Retrying: create ConfigMap ns/a: no", "Available=Unknown/Reconciling: create ConfigMap ns/a: no", succeeded}},
		"blocked":                 {ready: "False/Blocked Stalled", now: outcome{err: blocked}, want: []string{"Progressing=False/Blocked: read: not immutable"}},
		"blocked beyond deadline": {ready: "False/Blocked Stalled", now: outcome{err: blocked}, after: time.Hour, want: []string{"Progressing=False/Blocked: read: not immutable"}},
		"lost after success":      {ready: "False/RollingOut Reconciling", before: []outcome{complete}, now: waiting, after: time.Hour, want: []string{rollingOut, probing, succeeded}},
		"deadline, waiting": {ready: "False/ProgressDeadlineExceeded Stalled", now: waiting, after: 10 * time.Minute, want: []string{
			"Progressing=False/ProgressDeadlineExceeded: Revision has not rolled out for 10 minute(s). Last status: Revision 1.2.3 is rolling out. Object ConfigMap.v1 ns/a: not yet\nObject ConfigMap.v1 ns/b: not yet", probing}},
		"deadline, failing": {ready: "False/ProgressDeadlineExceeded Stalled", now: failed, after: time.Hour, want: []string{
			"Progressing=False/ProgressDeadlineExceeded: Revision has not rolled out for 10 minute(s). Last status: create ConfigMap ns/a: no"}},
		"begun again and again": {ready: "False/CrashLoopBackOff Stalled", now: looping, want: []string{
			"Progressing=False/CrashLoopBackOff: Revision 1.2.3 does not keep running. Object ConfigMap.v1 ns/a: not yet\nObject ConfigMap.v1 ns/b: not yet", probing}},
		"begun again and again, beyond the deadline": {ready: "False/ProgressDeadlineExceeded Stalled", now: looping, after: 10 * time.Minute, want: []string{
			"Progressing=False/ProgressDeadlineExceeded: Revision has not rolled out for 10 minute(s). Last status: Revision 1.2.3 is rolling out. Object ConfigMap.v1 ns/a: not yet\nObject ConfigMap.v1 ns/b: not yet", probing}},
		"begun again and again, after success": {ready: "False/RollingOut Reconciling", before: []outcome{complete}, now: looping, want: []string{rollingOut, probing, succeeded}},
		"runs at last":                         {ready: "True/Succeeded", before: []outcome{looping}, now: complete, want: []string{rolledOut, available, succeeded}},
		"before the deadline":                  {ready: "False/RollingOut Reconciling", now: waiting, after: 10*time.Minute - time.Second, want: []string{rollingOut, probing}},
		"complete at last":                     {ready: "True/Succeeded", before: []outcome{waiting}, now: complete, after: time.Hour, want: []string{rolledOut, available, succeeded}},
	}
	states := map[string]any{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := newSet("ext-1", 1)
			set.Annotations = map[string]string{olmv1.BundleVersionKey: "1.2.3"}
			set.CreationTimestamp, set.Generation, set.Spec.ProgressDeadlineMinutes = metav1.NewTime(epoch), 7, 10
			for _, o := range append(tc.before, tc.now) {
				reportRollout(set, o, epoch.Add(tc.after))
				judge(set, epoch.Add(tc.after))
			}
			must.Equal(t, "observed generation of the status", set.Status.ObservedGeneration, 7)
			must.Equal(t, "ready", readiness(set), tc.ready)
			states[name] = set
			var got []string
			for _, c := range set.Status.Conditions {
				if slices.Contains(reconcile.VerdictTypes, c.Type) {
					continue
				}
				got = append(got, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
				must.Equal(t, "observed generation", c.ObservedGeneration, 7)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	golden.States(t, "testdata/states.txtar", olmv1.GroupVersion.String(), olmv1.ClusterObjectSetKind, states)
}

// TestArchivedIsReady: what a set that is archived asks for is that nothing of it is left.
func TestArchivedIsReady(t *testing.T) {
	set := newSet("ext-1", 1)
	set.Generation = 8
	reportRollout(set, outcome{complete: true}, epoch)
	reportArchived(set, epoch)
	judge(set, epoch)
	must.Equal(t, "ready", readiness(set), "True/Archived")
	golden.States(t, "testdata/archived.txtar", olmv1.GroupVersion.String(), olmv1.ClusterObjectSetKind, map[string]any{"archived": set})
}

// readiness is the verdict in a status: Ready, and the condition beside it that is True.
func readiness(set *olmv1.ClusterObjectSet) string {
	ready := meta.FindStatusCondition(set.Status.Conditions, reconcile.TypeReady)
	if ready == nil {
		return "none"
	}
	out := string(ready.Status) + "/" + ready.Reason
	for _, kind := range []string{reconcile.TypeReconciling, reconcile.TypeStalled} {
		if meta.IsStatusConditionTrue(set.Status.Conditions, kind) {
			out += " " + kind
		}
	}
	return out
}

// TestVersions: a set that is of no bundle goes by its number.
func TestVersions(t *testing.T) {
	if got := version(newSet("mine", 4)); got != "4" {
		t.Errorf("%q", got)
	}
}

// TestLongLists are cut, and say how much.
func TestLongLists(t *testing.T) {
	lines := make([]string, 25)
	got := list(lines)
	if strings.Count(got, "\n") != maxListed || !strings.HasSuffix(got, "and 5 more") {
		t.Errorf("%q", got)
	}
}
