package clusterserviceversion

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	archive "fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// TestVerdicts has every phase with every reason that the table leads to.
func TestVerdicts(t *testing.T) {
	states := map[string]any{}
	for _, row := range table {
		if row.because == "" {
			continue
		}
		for _, from := range row.from {
			at := row.next(state{phase: from})
			csv := &v1alpha1.ClusterServiceVersion{}
			csv.Generation = 2
			csv.Status.SetPhase(at.phase, at.reason, "because of it", metav1.Unix(0, 0))
			judge(&csv.Status, csv.Generation, metav1.Unix(0, 0))
			states[fmt.Sprintf("%s %s", at.phase, at.reason)] = csv
		}
	}
	archive.States(t, "testdata/states.txtar", v1alpha1.GroupVersion.String(), v1alpha1.ClusterServiceVersionKind, states)
}

// TestConditionsAndHistory: the history of phases is what it is without the conditions before it, and clients find its last entry at the end.
func TestConditionsAndHistory(t *testing.T) {
	var alone, judged v1alpha1.ClusterServiceVersionStatus
	for i := range 3 * v1alpha1.MaxCSVConditions {
		now := metav1.Unix(int64(i), 0)
		to := []state{{toPending, v1alpha1.CSVReasonRequirementsNotMet}, {toInstalling, v1alpha1.CSVReasonWaiting}, {toSucceeded, v1alpha1.CSVReasonInstallSuccessful},
			{toFailed, v1alpha1.CSVReasonOwnerConflict}, {toFailed, v1alpha1.CSVReasonOwnerConflict}}[i%5]
		alone.SetPhase(to.phase, to.reason, "m", now)
		judged.SetPhase(to.phase, to.reason, "m", now)
		judge(&judged, 1, now)
		typed := judged.TypedConditions()
		must.Equal(t, "history", judged.Conditions[len(typed):], alone.Conditions)
		must.Equal(t, "first condition", typed[0].Type, reconcile.TypeReady)
		if slices.ContainsFunc(alone.Conditions, func(c v1alpha1.ClusterServiceVersionCondition) bool { return c.Type != "" || c.Status != "" }) {
			t.Fatal("an entry of the history is a condition")
		}
		again := judged.DeepCopy()
		judge(again, 1, metav1.Unix(1000, 0))
		must.Equal(t, "the same verdict later", again, &judged)
	}
	pruned := judged.DeepCopy() // as an API server with an older CustomResourceDefinition keeps it
	for i := range pruned.TypedConditions() {
		pruned.Conditions[i].Type, pruned.Conditions[i].Status = "", ""
	}
	judge(pruned, 1, metav1.Unix(2000, 0))
	must.Equal(t, "length after conditions lost their types", len(pruned.Conditions), len(judged.Conditions))
	must.Equal(t, "length", len(alone.Conditions), v1alpha1.MaxCSVConditions)
}

// TestWaitingIsNotStalled: what has failed and waits for something that needs no one goes on by itself, and what has failed for good does not.
func TestWaitingIsNotStalled(t *testing.T) {
	for message, want := range map[string]string{waits + "OperatorGroup all to list Goose.v1.example.com among its provided APIs": reconcile.TypeReconciling, "another operator owns it": reconcile.TypeStalled} {
		status := v1alpha1.ClusterServiceVersionStatus{Phase: toFailed, Reason: v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, Message: message}
		var types []string
		for _, c := range verdictOf(&status).Conditions() {
			types = append(types, c.Type)
		}
		must.Equal(t, message, types, []string{reconcile.TypeReady, want})
	}
}
