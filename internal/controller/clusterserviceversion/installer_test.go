package clusterserviceversion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// limited gives clients that may apply some kinds.
type limited struct {
	k     *cluster
	kinds []string
	asked []string
	// mayDelete is whether they may delete.
	mayDelete bool
}

func (l *limited) Client(_ context.Context, namespace, name string) (client.Client, error) {
	l.asked = append(l.asked, namespace+"/"+name)
	return l.k.api.As(namespace + "/" + name), nil
}

func (l *limited) authorize(_, verb, kind, name string) error {
	if may := slices.Contains(l.kinds, kind); verb == "delete" && !l.mayDelete || (verb == "create" || verb == "apply") && !may {
		return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, name, errors.New("RBAC"))
	}
	return nil
}

// limit lets the operators of the cluster be installed by an account that may apply some kinds.
func (k *cluster) limit(kinds ...string) *limited {
	account := &limited{k: k, kinds: kinds}
	k.c.accounts, k.api.Authorize = account, account.authorize
	return account
}

// everyKind is all that the install of op.v1 makes in a group of all namespaces.
var everyKind = []string{"Deployment", "ClusterRole", "ClusterRoleBinding"}

// limitedGroup targets all namespaces and limits installs to an account.
func limitedGroup() *v1.OperatorGroup {
	group := newGroup("")
	group.Spec.ServiceAccountName = "installer"
	group.Status.ServiceAccountRef = &corev1.ObjectReference{Kind: "ServiceAccount", Namespace: ns, Name: "installer"}
	return group
}

func newLimited(t *testing.T, group *v1.OperatorGroup, kinds ...string) (*cluster, *limited) {
	t.Helper()
	k := newCluster(t, group)
	account := k.limit(kinds...)
	csv := newCSV("op.v1")
	k.create(csv)
	k.create(permissions(t, csv)...)
	return k, account
}

// TestInstallIsLimitedByTheAccountOfTheGroup: what the account may not do is told with its name, and tried again when
// that changes. That holds for permissions in the target namespaces too: the manager gives none that the account may not give.
func TestInstallIsLimitedByTheAccountOfTheGroup(t *testing.T) {
	recoveries := map[string]func(*cluster, *limited){
		"the account may": func(_ *cluster, l *limited) { l.kinds = everyKind },
		"the group names no account": func(k *cluster, _ *limited) {
			edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Spec.ServiceAccountName = "" })
		},
	}
	for name, recover := range recoveries {
		t.Run(name, func(t *testing.T) {
			k, account := newLimited(t, limitedGroup())
			csv := k.pass("op.v1")
			expect(t, csv, toFailed, "InstallComponentFailedNoRetry", "")
			if want := `install strategy failed: create ClusterRole op.v1-account-`; !strings.HasPrefix(csv.Status.Message, want) {
				t.Errorf("message %q, want %q", csv.Status.Message, want)
			}
			must.Contain(t, "message", csv.Status.Message, `create Deployment operators/manager: Deployment "manager" is forbidden: RBAC`)
			must.Contain(t, "message", csv.Status.Message, "as ServiceAccount operators/installer of OperatorGroup group")
			lifted := func(r string) bool { return strings.HasPrefix(r, "role op.v1-account-") }
			if roles := k.clusterRoles(); slices.ContainsFunc(roles, lifted) {
				t.Errorf("the permissions were lifted although the account may not: %v", roles)
			}
			k.rests("op.v1")
			recover(k, account)
			expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
			k.rollsOut("op.v1")
			if roles := k.clusterRoles(); !slices.ContainsFunc(roles, lifted) {
				t.Errorf("the permissions were not lifted: %v", roles)
			}
			must.Equal(t, "acted as", account.asked[0], "operators/installer")
		})
	}
}

// TestAccountOfTheGroupIsMissing: the install waits for it, and says so.
func TestAccountOfTheGroupIsMissing(t *testing.T) {
	group := limitedGroup()
	group.Status.ServiceAccountRef = nil
	k, _ := newLimited(t, group, everyKind...)
	expect(t, k.pass("op.v1"), toPending, "AllRequirementsMet",
		"all requirements found, please make sure the service account exists. sa=installer operatorgroup=operators/group")
	edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status.ServiceAccountRef = limitedGroup().Status.ServiceAccountRef })
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	k.rollsOut("op.v1")

	// An operator that runs goes on running without it; what is broken meanwhile waits for it.
	edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status.ServiceAccountRef = nil })
	k.wrote()
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	k.delete(k.deployment("manager"))
	expect(t, k.pass("op.v1"), toPending, "AllRequirementsMet", "")
	must.Equal(t, "the Deployment was made without the account", k.deployment("manager") != nil, false)
}

// TestBindingsOfTheGroupsAccountWakeItsMembers although the account is none of their own.
func TestBindingsOfTheGroupsAccountWakeItsMembers(t *testing.T) {
	k, _ := newLimited(t, limitedGroup())
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x"}, Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "installer"}}}
	must.Equal(t, "a binding of the account wakes up", names(k.c.triggers().usingBinding(t.Context(), binding)), "operators/op.v1")
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.Permissions, csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions = nil, nil
	})
	must.Equal(t, "a binding of the account wakes up", names(k.c.triggers().usingBinding(t.Context(), binding)), "operators/op.v1")
}
