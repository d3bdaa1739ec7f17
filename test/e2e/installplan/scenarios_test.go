package installplan

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func (o *outage) make(manager string, objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		object.SetNamespace(o.namespace)
		must.NoErrorf(o, o.Create(o.Context(), object, client.FieldOwner(manager)), "create %T %s", object, object.GetName())
	}
}

// object reads one from YAML.
func object[T client.Object](t *testing.T, into T, text string) T {
	t.Helper()
	must.NoError(t, yaml.Unmarshal([]byte(text), into))
	return into
}

const operatorYAML = `{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: NAME},
  spec: {displayName: Op, version: 1.0.0, replaces: REPLACES, installModes: [{type: OwnNamespace, supported: true}], install: {strategy: deployment, spec: {deployments: []}}}}`

func operatorText(name, replaces string) string {
	return strings.NewReplacer("NAME", name, "REPLACES", `"`+replaces+`"`).Replace(operatorYAML)
}

// planned makes an approved plan with steps for op.v2 from manifests in YAML, and returns its name.
func (o *outage) planned(manifests ...string) string {
	o.Helper()
	// An owner that is not a Subscription of this namespace: nobody else has to do with the plan.
	p := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Name: "plan", Labels: map[string]string{"olm.managed": "true"}}}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}
	o.make("test", owner)
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	p.Spec = v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"op.v2"}, Approval: v1alpha1.ApprovalAutomatic, Approved: true}
	o.make("test", p)
	status := v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, CatalogSources: []string{}}
	for _, manifest := range manifests {
		u := &unstructured.Unstructured{}
		text := must.Value(yaml.YAMLToJSON([]byte(manifest)))(o)
		must.NoError(o, u.UnmarshalJSON(text))
		gvk := u.GroupVersionKind()
		kind := gvk.Kind
		if kind == "Secret" {
			kind = "BundleSecret"
		}
		status.Plan = append(status.Plan, &v1alpha1.Step{Resolving: "op.v2", Status: v1alpha1.StepStatusUnknown,
			Resource: v1alpha1.StepResource{Group: gvk.Group, Version: gvk.Version, Kind: kind, Name: u.GetName(), Manifest: string(text)}})
	}
	// The controller may have written a status of its own meanwhile.
	before := p.DeepCopy()
	p.Status = status
	must.NoError(o, o.Status().Patch(o.Context(), p, client.MergeFrom(before)))
	return p.Name
}

func (o *outage) planIs(name string, phase v1alpha1.InstallPlanPhase) *v1alpha1.InstallPlan {
	o.Helper()
	p := &v1alpha1.InstallPlan{}
	harness.Await(o, o, client.ObjectKey{Namespace: o.namespace, Name: name}, p, "InstallPlan "+name+" to be "+string(phase), func() error {
		if p.Status.Phase != phase {
			return fmt.Errorf("it is %s: %s", p.Status.Phase, p.Status.Message)
		}
		return nil
	})
	return p
}

const (
	webYAML    = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: op}, ports: [{name: http, port: 8080}]}}`
	budgetYAML = `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: op}, spec: {minAvailable: 1, selector: {matchLabels: {app: op}}}}`
	configYAML = `{apiVersion: v1, kind: ConfigMap, metadata: {name: config}, data: {old: "1", both: "1"}}`
	secretYAML = `{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {a: b}}`
	sharedYAML = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}`
)

// TestUpgradeOfWhatAnotherImplementationInstalled changes a Service and a PodDisruptionBudget in ways that the API server refuses as long
// as what the old version had is still there.
func TestUpgradeOfWhatAnotherImplementationInstalled(t *testing.T) {
	o := newOutage(t)
	before := object(t, &v1alpha1.ClusterServiceVersion{}, operatorText("op.v1", ""))
	o.make("catalog", o.own("own"), before)
	owned := func(object client.Object) client.Object {
		object.SetLabels(map[string]string{"olm.managed": "true"})
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: before.Name, UID: before.UID}})
		return object
	}
	web, budget, config := object(t, &corev1.Service{}, webYAML), object(t, &policyv1.PodDisruptionBudget{}, budgetYAML), object(t, &corev1.ConfigMap{}, configYAML)
	account := object(t, &corev1.ServiceAccount{}, sharedYAML)
	o.make("catalog", owned(web), owned(budget), owned(config), owned(account))
	config.Data["theirs"] = "x"
	must.NoError(t, o.Update(t.Context(), config, client.FieldOwner("somebody")))
	address := web.Spec.ClusterIP
	name := o.planned(operatorText("op.v2", "op.v1"), strings.NewReplacer("http", "https", "8080", "8443").Replace(webYAML), strings.Replace(budgetYAML, "minAvailable", "maxUnavailable", 1),
		strings.Replace(configYAML, `old: "1"`, `new: "1"`, 1), sharedYAML)
	o.planIs(name, v1alpha1.InstallPlanPhaseComplete)
	for _, object := range []client.Object{web, budget, config, account} {
		must.NoError(t, o.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	}
	if len(web.Spec.Ports) != 1 || web.Spec.Ports[0].Name != "https" || web.Spec.Ports[0].Port != 8443 || web.Spec.ClusterIP != address {
		t.Errorf("Service: address %s, was %s; ports %v", web.Spec.ClusterIP, address, web.Spec.Ports)
	}
	if budget.Spec.MinAvailable != nil || budget.Spec.MaxUnavailable == nil {
		t.Errorf("PodDisruptionBudget: %+v", budget.Spec)
	}
	if want := map[string]string{"new": "1", "both": "1", "theirs": "x"}; fmt.Sprint(config.Data) != fmt.Sprint(want) {
		t.Errorf("ConfigMap: %v, want %v", config.Data, want)
	}
	if owners := account.OwnerReferences; len(owners) == 0 || owners[0].Name != "op.v2" { // the old operator may have gone by now
		t.Errorf("ServiceAccount: owners %v", account.OwnerReferences)
	}
	for _, entry := range web.ManagedFields {
		if entry.Manager == "catalog" && entry.Subresource == "" {
			t.Error("the Service still has fields of the other implementation")
		}
	}
}

// TestObjectsGoWithTheirOperator: GC5 what the bundle brought goes with the ClusterServiceVersion, GC3 what several own stays as long as
// one of them is there, and GC4 goes with the last; what a user has made stays, whose name is refused.
func TestObjectsGoWithTheirOperator(t *testing.T) {
	o := newOutage(t)
	other := object(t, &v1alpha1.ClusterServiceVersion{}, operatorText("other.v1", ""))
	mine := object(t, &corev1.Service{}, webYAML)
	o.make("test", o.own("own"), other, mine)
	account := object(t, &corev1.ServiceAccount{}, sharedYAML)
	account.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: other.Name, UID: other.UID}}
	o.make("test", account)
	name := o.planned(operatorText("op.v2", ""), webYAML, configYAML, secretYAML, sharedYAML)
	p := &v1alpha1.InstallPlan{}
	harness.Await(o, o, client.ObjectKey{Namespace: o.namespace, Name: name}, p, "the user's Service to be refused", func() error {
		if want := "but exists, and nothing says that it belongs to an operator: delete or rename it"; !strings.Contains(p.Status.Message, want) {
			return fmt.Errorf("the plan is %s: %s", p.Status.Phase, p.Status.Message)
		}
		return nil
	})
	if err := o.Get(t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "op.v2"}, &v1alpha1.ClusterServiceVersion{}); !apierrors.IsNotFound(err) {
		t.Errorf("half installed: %v", err)
	}
	mine.Labels = map[string]string{"olm.managed": "true"}
	must.NoError(t, o.Update(t.Context(), mine))
	o.planIs(name, v1alpha1.InstallPlanPhaseComplete)
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "op.v2"}}
	must.NoError(t, o.Delete(t.Context(), csv))
	for _, brought := range []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys"}}} {
		o.gone(brought)
	}
	if err := o.Get(t.Context(), client.ObjectKeyFromObject(account), account); err != nil || account.DeletionTimestamp != nil {
		t.Errorf("the ServiceAccount that another operator owns: %v", err)
	}
	must.NoError(t, o.Delete(t.Context(), other))
	o.gone(account)
}

func (o *outage) gone(object client.Object) {
	o.Helper()
	object.SetNamespace(o.namespace)
	must.Eventually(o, fmt.Sprintf("%T %s to go", object, object.GetName()), func() error {
		err := o.Get(o.Context(), client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there: %w", err)
	})
}

// changed is a tree of bundles in which a text is another one.
func changed(t *testing.T, tree fs.FS, old, new string) fs.FS {
	t.Helper()
	out, times := fstest.MapFS{}, 0
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if path.Dir(name) != "." {
			times += strings.Count(string(content), old)
		}
		out[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(content), old, new))}
		return nil
	})
	if err != nil || times == 0 {
		t.Fatalf("%q is there %d times, %v", old, times, err)
	}
	return out
}

// TestModifiedOperatorIsNotUpdated: I15 neither what a user has changed of a ClusterServiceVersion, nor what a catalog has changed of one
// without giving it another name, leads to a plan; both stay as they are.
func TestModifiedOperatorIsNotUpdated(t *testing.T) {
	o := newOutage(t)
	o.publish("1.0.0")
	o.subscribe()
	o.runs("1.0.0")
	csv := &v1alpha1.ClusterServiceVersion{}
	key := client.ObjectKey{Namespace: o.namespace, Name: "guestbook-operator.v1.0.0"}
	harness.Await(o, o, key, csv, "the ClusterServiceVersion to be changed", func() error {
		csv.Spec.DisplayName = "Mine"
		return o.Update(t.Context(), csv)
	})
	plans := len(o.plans())
	tree, err := fs.Sub(examples.Bundles, "bundles")
	if err != nil {
		t.Fatal(err)
	}
	if o.published, err = o.publisher().Bundles(t.Context(), changed(t, tree, "displayName: Guestbook", "displayName: Theirs")); err != nil {
		t.Fatal(err)
	}
	o.publish("1.0.0")
	published := time.Now().Truncate(time.Second)
	must.Eventually(o, "the catalog to be read again", func() error {
		source := &v1alpha1.CatalogSource{}
		if err := o.Get(t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "catalog"}, source); err != nil {
			return err
		}
		if polled := source.Status.LatestImageRegistryPoll; polled == nil || !polled.After(published.Add(time.Second)) {
			return fmt.Errorf("it was polled last at %v", polled)
		}
		return nil
	})
	time.Sleep(3 * time.Second) // whatever follows from that would have been written by now
	must.Equal(t, "there", len(o.plans()), plans)
	if err := o.Get(t.Context(), key, csv); err != nil || csv.Spec.DisplayName != "Mine" {
		t.Errorf("the ClusterServiceVersion is called %q, %v", csv.Spec.DisplayName, err)
	}
	o.check()
}
