package ops

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestGoOn: a migration that was cut short is gone on with only where the backup is that of the ClusterExtension, or what the Subscription asks
// for would be it.
func TestGoOn(t *testing.T) {
	key := client.ObjectKey{Namespace: "tenant", Name: "etcd"}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "etcd.v1", UID: "csv"}}
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "g"}, Status: operatorsv1.OperatorGroupStatus{Namespaces: []string{"tenant"}}}
	frozen := subscription("sub", "etcd", "etcd.v1", true)
	derived := must.Value((&migrate.Install{Subscription: frozen, CSV: csv, Groups: []operatorsv1.OperatorGroup{*group}}).Extension(migrate.Preferences{Name: "etcd", Catalog: "c"}))(t)
	good := aBackup()
	good.Extension = derived
	good.Version.SetUID("csv")
	bad := aBackup()
	bad.Version.SetUID("csv")
	bad.Extension = derived.DeepCopy()
	bad.Extension.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: olmv1.ClusterExtensionConfigTypeInline, Inline: &apiextensionsv1.JSON{Raw: []byte(`{"watchNamespace":"kube-system"}`)}}
	marked := movedExtension("e", moveMark(secretOf(t, good, nil)))
	for name, c := range map[string]struct {
		b     *migrate.Backup
		notes map[string]string
		there []client.Object
		why   string // empty: it is gone on with
	}{
		"as it was":                       {good, nil, []client.Object{frozen}, ""},
		"with its extension":              {good, map[string]string{madeKey: "e"}, []client.Object{frozen, marked}, ""},
		"without Subscription":            {good, map[string]string{madeKey: "e"}, []client.Object{marked}, ""},
		"another extension in the backup": {bad, nil, []client.Object{frozen}, "it has changed since the migration was begun"},
		"another backup":                  {bad, map[string]string{madeKey: "e"}, []client.Object{frozen, marked}, "does not note that this is its backup"},
		"another extension":               {good, map[string]string{madeKey: "f"}, []client.Object{frozen, marked}, "had UID f, and this one has e"},
		"the extension is gone":           {good, map[string]string{madeKey: "e"}, []client.Object{frozen}, "is not there any more"},
		"all is gone":                     {good, nil, nil, "took nothing over"},
		"another Subscription":            {good, nil, []client.Object{subscription("new", "etcd", "", false)}, "another Subscription of that name"},
		"going back":                      {good, map[string]string{madeKey: "e"}, []client.Object{subscription("new", "etcd", "", true)}, "going back was begun"},
		"upgrading":                       {good, map[string]string{madeKey: "e"}, []client.Object{subscription("sub", "etcd", "etcd.v1", false), marked}, "another client has removed its annotation"},
		"upgraded before it is made":      {good, nil, []client.Object{subscription("sub", "etcd", "etcd.v2", true), &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "etcd.v2"}}}, "it has changed since the migration was begun"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{csv.DeepCopy(), group.DeepCopy()}
			for _, o := range c.there {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			u := newUndoing(t, secretOf(t, c.b, c.notes), objects...)
			u.Flags = " --backup-namespace backups"
			v, err := u.begun(t.Context(), key)
			if err != nil && strings.Contains(err.Error(), "--undo") && !strings.Contains(err.Error(), "fairlead migrate --undo etcd --backup-namespace backups") {
				t.Errorf("the command does not work as it is printed: %v", err)
			}
			if c.why == "" && (err != nil || v == nil || !v.Begun) {
				t.Errorf("%+v: %v", v, err)
			}
			if c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
				t.Errorf("%v, want %q", err, c.why)
			}
		})
	}
	// A ClusterExtension of the name that is another one's is said before anything is resolved for it.
	u := newUndoing(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "unrelated"}}, csv, group, subscription("sub", "etcd", "etcd.v1", false), movedExtension("other", ""))
	_, taken := u.Plan(t.Context(), key, migrate.Preferences{Catalog: "c"})
	must.Fail(t, "plan", taken, "migrate Subscription tenant/etcd: there is a ClusterExtension etcd already: choose another name with --name")
	// One that changed nothing is begun anew.
	v, err := newUndoing(t, secretOf(t, good, nil), csv, group, subscription("sub", "etcd", "etcd.v1", false)).begun(t.Context(), key)
	if v != nil || err != nil {
		t.Errorf("%+v: %v", v, err)
	}
}
