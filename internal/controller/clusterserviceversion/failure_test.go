package clusterserviceversion

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

var (
	contended = apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "quota", errors.New("the object has been modified"))
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "roles"}, "role", errors.New("no"))
)

// TestContendedQuotaIsTriedAgain: many objects that count against a ResourceQuota at once are answered with a conflict, and
// no event tells when there is room again.
func TestContendedQuotaIsTriedAgain(t *testing.T) {
	k := newCluster(t, newGroup(""), newCSV("op.v1", withoutAccounts))
	busy := true
	k.fail = func(w string) error {
		if strings.HasPrefix(w, "apply Deployment") && busy {
			return contended
		}
		return nil
	}
	if result, err := k.reconcile("op.v1"); err == nil && result.RequeueAfter == 0 {
		t.Errorf("the install is not tried again: %+v", k.csv("op.v1").Status)
	}
	busy = false
	k.pass("op.v1")
	if !k.get(ns, "manager", &appsv1.Deployment{}) {
		t.Error("the Deployment is not there")
	}
}

// TestRefusalAmongConflicts: what is refused is told and tried again, although something else was only busy.
func TestRefusalAmongConflicts(t *testing.T) {
	wrapped := fmt.Errorf("install: %w", errors.Join(contended, forbidden))
	if quiet(wrapped) == nil {
		t.Error("a refusal is kept quiet")
	}
	k := newCluster(t, newGroup(""), newCSV("op.v1", withoutAccounts, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = append(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, newStrategy("second"))
	}))
	k.fail = func(w string) error {
		switch {
		case strings.HasPrefix(w, "apply Deployment operators/manager"):
			return contended
		case strings.HasPrefix(w, "apply Deployment"):
			return forbidden
		}
		return nil
	}
	_, err := k.reconcile("op.v1")
	if err == nil {
		t.Error("the install is not tried again")
	}
	csv := k.csv("op.v1")
	expect(t, csv, toFailed, "InstallComponentFailed", "")
	if !strings.Contains(csv.Status.Message, "roles \"role\" is forbidden") {
		t.Errorf("the message does not tell the refusal: %q", csv.Status.Message)
	}
}

func TestKindsOfFailure(t *testing.T) {
	other := errors.New("other")
	for name, tc := range map[string]struct {
		err                 error
		transient, refusing bool
	}{
		"conflict":               {err: contended, transient: true},
		"refusal":                {err: fmt.Errorf("apply: %w", forbidden), refusing: true},
		"our refusal":            {err: fmt.Errorf("apply: %w", refused(other)), refusing: true},
		"our refusal of a cause": {err: refused(contended), refusing: true},
		"refusals":               {err: errors.Join(forbidden, refused(other)), refusing: true},
		"conflict, then refusal": {err: errors.Join(contended, forbidden)},
		"refusal, then conflict": {err: errors.Join(forbidden, contended)},
		"refusal, then another":  {err: errors.Join(forbidden, other)},
		"another":                {err: other},
	} {
		if isTransient(tc.err) != tc.transient || isRefusal(tc.err) != tc.refusing {
			t.Errorf("%s: transient %v, refusal %v", name, isTransient(tc.err), isRefusal(tc.err))
		}
	}
}
