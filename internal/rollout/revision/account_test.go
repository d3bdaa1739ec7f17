package revision

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// as is an extension that acts as a service account.
func as(name string) *olmv1.ClusterExtension {
	ext := kite()
	ext.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: name}
	return ext
}

func TestAccountOf(t *testing.T) {
	must.Equal(t, "with an account it acts as", AccountOf(as("installer")), "installer")
	must.Equal(t, "without one it acts as", AccountOf(kite()), "")
}

func TestAccountExists(t *testing.T) {
	account := typed[corev1.ServiceAccount](t, "{metadata: {name: installer, namespace: sky}}")
	for name, c := range map[string]struct {
		cluster client.WithWatch
		ext     *olmv1.ClusterExtension
		err     string
	}{
		"there":               {world(account), as("installer"), ""},
		"not there":           {world(account), as("other"), `service account "other" not found in namespace "sky": create it, or take spec.serviceAccount away`},
		"cannot be read":      {without(world(account), "ServiceAccount", errRefused), as("installer"), "read ServiceAccount sky/installer: connection refused"},
		"nobody asks for one": {without(world(), "ServiceAccount", errRefused), kite(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			wantAnswer(t, Preflight{Client: c.cluster}.AccountExists(t.Context(), c.ext), c.err, "")
		})
	}
}

func TestAccount(t *testing.T) {
	account := typed[corev1.ServiceAccount](t, "{metadata: {name: installer, namespace: sky}}")
	granted := func(verbs string) []client.Object {
		return []client.Object{account, typed[rbacv1.ClusterRole](t, "{metadata: {name: install}, rules: [{apiGroups: [''], resources: [configmaps], verbs: ["+verbs+"]}]}"),
			typed[rbacv1.ClusterRoleBinding](t, "{metadata: {name: install}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: install}, subjects: [{kind: ServiceAccount, name: installer, namespace: sky}]}")}
	}
	known := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: sky}}")
	unknown := object(t, "{apiVersion: example.com/v1, kind: Kite, metadata: {name: a, namespace: sky}}")
	const lacks = "pre-authorization failed: service account requires the following permissions to manage cluster extension:"
	for name, c := range map[string]struct {
		cluster client.WithWatch
		ext     *olmv1.ClusterExtension
		objects []*unstructured.Unstructured
		err     string
		// missing is what the account lacks; incomplete says that it may lack more.
		missing    []string
		incomplete bool
	}{
		"the manager may do all":            {cluster: without(world(), "ServiceAccount", errRefused), ext: kite(), objects: []*unstructured.Unstructured{known}},
		"it has what is needed":             {cluster: world(granted("'*'")...), ext: as("installer"), objects: []*unstructured.Unstructured{known}},
		"it lacks something":                {cluster: world(granted("create, get, list, watch, patch, update")...), ext: as("installer"), objects: []*unstructured.Unstructured{known}, err: lacks, missing: []string{`Namespace:"sky" APIGroups:[] Resources:[configmaps] ResourceNames:[settings] Verbs:[delete]`}},
		"it lacks something, perhaps more":  {cluster: world(granted("create, get, list, watch, patch, update")...), ext: as("installer"), objects: []*unstructured.Unstructured{known, unknown}, err: lacks, missing: []string{`Namespace:"sky" APIGroups:[] Resources:[configmaps] ResourceNames:[settings] Verbs:[delete]`}, incomplete: true},
		"whether it lacks anything is open": {cluster: world(granted("'*'")...), ext: as("installer"), objects: []*unstructured.Unstructured{known, unknown}},
		"it is not there":                   {cluster: world(account), ext: as("other"), err: `service account "other" not found in namespace "sky": create it, or take spec.serviceAccount away`},
		"it cannot be read":                 {cluster: without(world(account), "ServiceAccount", errRefused), ext: as("installer"), err: "read ServiceAccount sky/installer: connection refused"},
		"its roles cannot be read":          {cluster: without(world(account), "ClusterRoleList", errRefused), ext: as("installer"), err: "list the ClusterRoles, to see which permissions are granted: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Preflight{Client: c.cluster}.Account(t.Context(), Change{Extension: c.ext, Objects: c.objects})
			wantAnswer(t, err, c.err, "") // rights can be given at any time
			var lacking *permissions.Lacking
			if !errors.As(err, &lacking) {
				if c.missing != nil {
					t.Errorf("nothing is missing: %v", err)
				}
				return
			}
			var missing []string
			for _, rule := range lacking.Missing {
				missing = append(missing, rule.String())
			}
			if diff := cmp.Diff(c.missing, missing); diff != "" || lacking.Account.User != permissions.ServiceAccount("sky", "installer").User {
				t.Errorf("%s lacks (-want +got):\n%s", lacking.Account.User, diff)
			}
			if (lacking.Incomplete != nil) != c.incomplete || contains(err, "may be incomplete") != c.incomplete {
				t.Errorf("more may be missing: %v, want %t: %v", lacking.Incomplete, c.incomplete, err)
			}
		})
	}
}

// TestLackingSaysHowToGrant: the message ends with one command that grants what is missing, whatever there is of it.
func TestLackingSaysHowToGrant(t *testing.T) {
	few := []permissions.MissingRule{{Namespace: "sky", PolicyRule: rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}
	many := few
	for i := range 1000 {
		many = append(many, permissions.MissingRule{PolicyRule: rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{fmt.Sprintf("kites%d", i)}}})
	}
	for name, c := range map[string]struct {
		missing []permissions.MissingRule
		want    string
	}{
		"a few rules": {few, `: printf %s '{"apiVersion":"v1","kind":"List","items":[{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"kite-installer","namespace":"sky"},` +
			`"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]},{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1",` +
			`"metadata":{"name":"kite-installer","namespace":"sky"},"subjects":[{"kind":"ServiceAccount","name":"default","namespace":"sky"}],` +
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"kite-installer"}}]}' | kubectl auth reconcile -f -`},
		"too many rules": {many, ": fairlead plan kite --missing-roles | kubectl auth reconcile -f -"},
	} {
		text := (&permissions.Lacking{Extension: "kite", Account: permissions.ServiceAccount("sky", "default"), Missing: c.missing}).Error()
		if !strings.HasPrefix(text, "pre-authorization failed: service account requires the following permissions to manage cluster extension:\n  Namespace:") || !strings.HasSuffix(text, c.want) {
			t.Errorf("%s: %.300s ... %s", name, text, text[max(len(text)-1000, 0):])
		}
		if olmv1.TruncateMessage(text) != text {
			t.Errorf("%s: a condition has no room for %d bytes", name, len(text))
		}
	}
}
