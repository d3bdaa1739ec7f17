package clusterserviceversion

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
)

var (
	contended = apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "quota", errors.New("the object has been modified"))
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "roles"}, "role", errors.New("no"))
)

// TestContendedQuotaIsTriedAgain: many objects that count against a ResourceQuota at once are answered with a conflict, and
// no event reports when there is room again.
func TestContendedQuotaIsTriedAgain(t *testing.T) {
	k := newCluster(t, newGroup(""), newCSV("op.v1", withoutAccounts))
	busy := true
	k.api.Before = func(w string) error {
		if strings.HasPrefix(applied(w), "apply Deployment") && busy {
			return contended
		}
		return nil
	}
	if result, err := k.reconcile("op.v1"); err == nil && result.RequeueAfter == 0 {
		t.Errorf("the install is not tried again: %+v", k.csv("op.v1").Status)
	}
	busy = false
	k.pass("op.v1")
	must.Equal(t, "the Deployment is not there", !k.get(ns, "manager", &appsv1.Deployment{}), false)
}

// TestRefusalAmongConflicts: what is refused is told and tried again, although something else was only busy.
func TestRefusalAmongConflicts(t *testing.T) {
	wrapped := fmt.Errorf("install: %w", errors.Join(contended, forbidden))
	must.Equal(t, "a refusal is kept quiet", reconcile.IgnoreSuperseded(wrapped, watched...) == nil, false)
	k := newCluster(t, newGroup(""), newCSV("op.v1", withoutAccounts, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = append(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, newStrategy("second"))
	}))
	k.api.Before = func(w string) error {
		switch {
		case strings.HasPrefix(applied(w), "apply Deployment manager"):
			return contended
		case strings.HasPrefix(applied(w), "apply Deployment"):
			return forbidden
		}
		return nil
	}
	_, err := k.reconcile("op.v1")
	must.Equal(t, "the install is not tried again", err == nil, false)
	csv := k.csv("op.v1")
	expect(t, csv, toFailed, "InstallComponentFailed", "")
	must.Contain(t, "message of the refusal", csv.Status.Message, "roles \"role\" is forbidden")
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
		must.Equal(t, name+" is transient", reconcile.IsTransient(tc.err), tc.transient)
		must.Equal(t, name+" is a refusal", isRefusal(tc.err), tc.refusing)
	}
}

// TestNoSuccessWithoutPermissions: an install that failed in part has not succeeded as soon as its Deployments run.
func TestNoSuccessWithoutPermissions(t *testing.T) {
	csv := newCSV("op.v1")
	k := newCluster(t, newGroup("tenant"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}}, csv)
	k.create(permissions(t, csv)...)
	broken := true
	k.api.Before = func(w string) error {
		if broken && strings.HasPrefix(applied(w), "apply Role") {
			return apierrors.NewInternalError(errors.New("failed calling webhook policy.example.com"))
		}
		return nil
	}
	for range 3 {
		k.c.writtenAt.Clear()
		k.fails("op.v1")
		expect(t, k.csv("op.v1"), toFailed, "InstallComponentFailed", "")
		k.rollOut()
	}
	broken = false
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	var roles rbacv1.RoleList
	if err := k.client.List(t.Context(), &roles, client.InNamespace("tenant")); err != nil || len(roles.Items) == 0 {
		t.Errorf("no Role in the target namespace (%v)", err)
	}
}
