package preview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// subscribed is a namespace with a Subscription to a package of the examples, and what an InstallPlan has made for the version of greeter-operator that is
// installed; none is.
func subscribed(t *testing.T, pkg, version string) []client.Object {
	t.Helper()
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "mine"},
		Spec: &v1alpha1.SubscriptionSpec{Package: pkg, Channel: "stable", CatalogSource: "demo", CatalogSourceNamespace: "ops"}}
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "all"}}
	group.Status.Namespaces = []string{""}
	objects := []client.Object{namespace(), sub, group}
	if version == "" {
		return objects
	}
	name := "greeter-operator.v" + version
	sub.Status.InstalledCSV, sub.Status.CurrentCSV = name, name
	for _, u := range must.Value(bundle.Steps(load(t, version), bundle.StepTarget{Namespace: "ops"}))(t) {
		u.SetLabels(union(u.GetLabels(), map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue}))
		switch u.GetKind() {
		case v1alpha1.ClusterServiceVersionKind:
			csv := must.Value(operatorIn(u))(t)
			csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
			objects = append(objects, csv)
		case "CustomResourceDefinition":
			objects = append(objects, asServed(t, u, "ops/"+name))
		default:
			objects = append(objects, u)
		}
	}
	return objects
}

func union(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for key, value := range m {
			out[key] = value
		}
	}
	return out
}

// asServed is a definition as the API server keeps it, brought by InstallPlans for some operators.
func asServed(t *testing.T, u *unstructured.Unstructured, by ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd))
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	crd.Annotations = map[string]string{}
	for _, operator := range by {
		namespace, name, _ := strings.Cut(operator, "/")
		crd.Annotations[bundle.InstalledAlongsideKey(namespace, name)] = operator
		crd.Annotations[v1alpha1.OriginAnnotation] = v1alpha1.OriginInstallPlan + "/" + namespace
	}
	return crd
}

// ahead is the plan of the Subscription, and its text. What bundles hold may be changed.
func ahead(t *testing.T, p Planner, changes ...func(*bundle.Bundle)) (*SubscriptionPlan, string) {
	t.Helper()
	p.Fetch = func(_ context.Context, r bundleio.Request) (*bundle.Bundle, error) {
		pkg, version, _ := strings.Cut(r.Name, ".v")
		b, err := bundle.Load(os.DirFS(filepath.Join(examples, "bundles", pkg, version)))
		for _, change := range changes {
			change(b)
		}
		return b, err
	}
	q := must.Value(Cluster{Reader: p.Client, Server: server{version: "v1.31.0"}}.Question(t.Context(), "ops", "olm"))(t)
	q.Catalogs = []Catalog{{Ref: catalog.Ref{Namespace: "ops", Name: "demo"}, Source: filepath.Join(examples, "catalog")}}
	plan := must.Value(p.Subscription(t.Context(), q, "mine"))(t)
	var b strings.Builder
	must.NoError(t, plan.Write(&b))
	return plan, b.String()
}

// TestObjectsOfAFirstInstallation: of the operator and of what it needs, which gets a Subscription of its own.
func TestObjectsOfAFirstInstallation(t *testing.T) {
	plan, text := ahead(t, planner(t, subscribed(t, "guestbook-operator", "")...))
	if plan.Blocked() || !plan.Changes() || len(plan.Operators) != 2 {
		t.Fatalf("%+v\n%s", plan, text)
	}
	created := 0
	for _, o := range plan.Operators {
		created += len(o.Added)
		if len(o.Changed)+o.Unchanged != 0 || len(o.CRDs) != 1 || o.CRDs[0].Verdict != CRDNew || len(o.ImagesAdded) != 1 || o.Permissions == "" {
			t.Errorf("%+v", o)
		}
	}
	must.Equal(t, "totals", *plan.Totals, Totals{Created: created})
	must.Contain(t, "text", text, "\nguestbook-operator.v", "  added:\n", "    ClusterServiceVersion ops/guestbook-operator.v", "    CustomResourceDefinition greetings.demo.fairlead.dev\n",
		"    Subscription ops/greeter-operator-stable-demo-ops\n", "    greetings.demo.fairlead.dev: new\n", "  permissions that come in addition:\n", "  images that come:\n",
		fmt.Sprintf("\n%d objects: %d created\n", created, created))
	if strings.Contains(text, "ClusterExtension") || !strings.HasSuffix(text, " created\n") {
		t.Error(text)
	}
}

// TestObjectsOfAnUpgrade: the ClusterServiceVersion is compared with the one that it replaces, and what the API server and the manager set is no difference.
func TestObjectsOfAnUpgrade(t *testing.T) {
	plan, text := ahead(t, planner(t, subscribed(t, "greeter-operator", "1.0.0")...))
	o := plan.Operators[0]
	if plan.Blocked() || o.Operator != "greeter-operator.v1.1.0" || o.Replaces != "greeter-operator.v1.0.0" || o.Unchanged == 0 {
		t.Fatalf("%+v\n%s", o, text)
	}
	must.Contain(t, "text", text, "\ngreeter-operator.v1.0.0 -> greeter-operator.v1.1.0\n", "  changed:\n    ClusterServiceVersion greeter-operator.v1.0.0 -> greeter-operator.v1.1.0: ",
		".spec.install.spec.deployments", "    greetings.demo.fairlead.dev: safe\n", "  images that go:\n    registry.example.com/fairlead/greeter-operator:v1.0.0\n")
	for _, c := range o.Changed {
		if !strings.HasPrefix(c.Name, "ClusterServiceVersion") && !strings.HasPrefix(c.Name, "CustomResourceDefinition") {
			t.Errorf("%+v changes", c)
		}
		if len(c.Changes) > 0 {
			t.Errorf("values that no one asked for: %+v", c)
		}
	}
	p := planner(t, subscribed(t, "greeter-operator", "1.0.0")...)
	p.Values = true
	plan, text = ahead(t, p)
	must.Contain(t, "text with values", text, "      .spec.version: 1.0.0 -> 1.1.0\n", "      .spec.replaces: (none) -> greeter-operator.v1.0.0\n")
	must.Equal(t, "changed", plan.Totals.Changed, len(plan.Operators[0].Changed))
}

// TestWhatStandsInTheWayOfAPlan is told by the rules of InstallPlans: another operator's definition, and another owner of an object.
func TestWhatStandsInTheWayOfAPlan(t *testing.T) {
	steps := must.Value(bundle.Steps(load(t, "1.2.0"), bundle.StepTarget{Namespace: "ops"}))(t)
	var definition *apiextensionsv1.CustomResourceDefinition
	role := &rbacv1.ClusterRole{}
	for _, u := range steps {
		switch u.GetKind() {
		case "CustomResourceDefinition":
			definition = asServed(t, u, "theirs/other.v1")
		case "ClusterRole":
			must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, role))
		}
	}
	other := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "theirs", Name: "other.v1"}}
	other.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: definition.Name, Version: "v1", Kind: definition.Spec.Names.Kind}}
	other.Status.Phase = v1alpha1.CSVPhaseSucceeded
	shared := definition.DeepCopy()
	definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["theirs"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	role.Labels = map[string]string{v1alpha1.OwnerLabel: "other.v1", v1alpha1.OwnerNamespaceLabel: "theirs", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind}
	for name, test := range map[string]struct {
		there   []client.Object
		blocked string
		text    string
	}{
		"another definition": {[]client.Object{other, definition}, "is owned by ClusterServiceVersion theirs/other.v1, and ClusterServiceVersion ops/greeter-operator.v1.2.0 defines it otherwise",
			"  blocked, so nothing would be written:\n    CustomResourceDefinition greetings.demo.fairlead.dev is owned by"},
		"the same definition": {[]client.Object{other, shared}, "", "greetings.demo.fairlead.dev: safe\n"},
		"another owner": {[]client.Object{other, role}, "ClusterRole " + role.Name + " is wanted by ClusterServiceVersion greeter-operator.v1.2.0 but belongs to ClusterServiceVersion theirs/other.v1",
			"blocked, so nothing would be written:"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := subscribed(t, "greeter-operator", "")
			for _, o := range test.there {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			plan, text := ahead(t, planner(t, objects...))
			must.Equal(t, text, plan.Blocked(), test.blocked != "")
			must.Contain(t, "text", text, test.text)
			must.Contain(t, "why", strings.Join(plan.Operators[0].Blocked, "\n"), test.blocked)
			if name == "the same definition" {
				must.Equal(t, "unchanged", plan.Operators[0].Unchanged, 1)
			}
		})
	}
}

// forbid refuses to read objects of some kinds beyond the namespace ops, and those without namespace, to a user; in ops, too, those of a kind that is
// given as ops/KIND.
func forbid(t *testing.T, p Planner, kinds ...string) Planner {
	t.Helper()
	refuse := func(o runtime.Object, namespace string) error {
		kind := strings.TrimSuffix(o.GetObjectKind().GroupVersionKind().Kind, "List")
		if kind == "" {
			gvks, _, err := p.Client.Scheme().ObjectKinds(o)
			must.NoError(t, err)
			kind = strings.TrimSuffix(gvks[0].Kind, "List")
		}
		if (namespace == "ops" || !slices.Contains(kinds, kind)) && !slices.Contains(kinds, "ops/"+kind) {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: strings.ToLower(kind)}, "", errors.New(`User "tina" cannot get resource`))
	}
	p.Client = interceptor.NewClient(p.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if err := refuse(o, key.Namespace); err != nil {
				return err
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, o client.ObjectList, options ...client.ListOption) error {
			all := &client.ListOptions{}
			if err := refuse(o, all.ApplyOptions(options).Namespace); err != nil {
				return err
			}
			return c.List(ctx, o, options...)
		},
	})
	return p
}

// TestWhatATenantMayNotReadIsANote: neither what the cluster has, nor a bundle that cannot be had from here, is an error.
func TestWhatATenantMayNotReadIsANote(t *testing.T) {
	p := forbid(t, planner(t, subscribed(t, "greeter-operator", "1.0.0")...), "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "OperatorGroup")
	plan, text := ahead(t, p)
	if plan.Blocked() || len(plan.Operators[0].CRDs) != 0 || plan.Operators[0].Replaces == "" {
		t.Errorf("%+v\n%s", plan.Operators[0], text)
	}
	must.Contain(t, "text", text, "    1 ClusterRole, 1 ClusterRoleBinding, 1 CustomResourceDefinition cannot be read as user tina: whether they are there, and what changes, is not known\n",
		"\n4 objects: 2 created, 1 changed, 1 unchanged; and 3 objects that you may not read\n")
	// Who may read the definitions of the cluster, but no operator elsewhere, does not know who has a say in them.
	objects := subscribed(t, "greeter-operator", "")
	for _, u := range must.Value(bundle.Steps(load(t, "1.2.0"), bundle.StepTarget{Namespace: "ops"}))(t) {
		if u.GetKind() == "CustomResourceDefinition" {
			definition := asServed(t, u, "theirs/other.v1")
			definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["theirs"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
			objects = append(objects, definition)
		}
	}
	plan, text = ahead(t, forbid(t, planner(t, objects...), v1alpha1.ClusterServiceVersionKind))
	if o := plan.Operators[0]; plan.Blocked() || len(o.CRDs) != 1 || o.CRDs[0].Verdict != CRDUnchecked {
		t.Errorf("%+v\n%s", o, text)
	}
	must.Contain(t, "text", text, "operators of other namespaces, which may have a say in it, cannot be read as user tina: the InstallPlan judges it")
}

// TestABundleThatCannotBeHad is a note: the manager may reach its registry.
func TestABundleThatCannotBeHad(t *testing.T) {
	p := planner(t, subscribed(t, "greeter-operator", "")...)
	q := must.Value(Cluster{Reader: p.Client, Server: server{version: "v1.31.0"}}.Question(t.Context(), "ops", "olm"))(t)
	q.Catalogs = []Catalog{{Ref: catalog.Ref{Namespace: "ops", Name: "demo"}, Source: filepath.Join(examples, "catalog")}}
	p.Fetch = func(context.Context, bundleio.Request) (*bundle.Bundle, error) {
		return nil, errors.New("the registry does not answer")
	}
	plan := must.Value(p.Subscription(t.Context(), q, "mine"))(t)
	must.Equal(t, "notes", strings.Join(plan.Operators[0].Notes, "\n"), "its objects are not known from here: read bundle greeter-operator.v1.2.0: the registry does not answer")
	if plan.Blocked() || !plan.Changes() || plan.Totals != nil {
		t.Errorf("%+v", plan)
	}
}

// confine gives the OperatorGroup among the objects a service account, and targets.
func confine(objects []client.Object, targets ...string) []client.Object {
	for _, o := range objects {
		if group, is := o.(*operatorsv1.OperatorGroup); is {
			group.Spec.ServiceAccountName, group.Status.Namespaces = "scoped", targets
		}
	}
	return objects
}

// TestRightsOfTheAccountOfAGroup: the roles that it lacks, applied as they are, leave nothing missing; and nothing is said where no rights were examined.
func TestRightsOfTheAccountOfAGroup(t *testing.T) {
	confined := func(targets ...string) []client.Object {
		return confine(subscribed(t, "greeter-operator", ""), targets...)
	}
	for name, targets := range map[string][]string{"all namespaces": {""}, "its own": {"ops"}, "others": {"one", "two"}} {
		p := planner(t, confined(targets...)...)
		plan, text := ahead(t, p)
		if plan.Account != "scoped" || plan.NotExamined != "" || strings.Contains(plan.MissingRoles, "customresourcedefinitions") {
			t.Errorf("%s: %q, not examined: %s\n%s", name, plan.Account, plan.NotExamined, plan.MissingRoles)
		}
		must.Contain(t, name, plan.MissingRoles, "name: ops:mine-installer\n", "- deployments", "- clusterserviceversions", "- clusterroles", "kind: ServiceAccount\n  name: scoped\n  namespace: ops\n")
		must.Equal(t, name+": blocked", plan.Blocked(), true)
		must.Equal(t, name+": roles in target namespaces", strings.Contains(plan.MissingRoles, "namespace: two"), targets[0] == "one")
		must.Contain(t, name, text, "Roles with what ServiceAccount ops/scoped lacks, to be read, and granted with: fairlead plan mine -n ops --missing-roles | kubectl auth reconcile -f -\n")
		for document := range strings.SplitSeq(plan.MissingRoles, "---\n") {
			u := &unstructured.Unstructured{}
			must.NoError(t, yaml.Unmarshal([]byte(document), &u.Object))
			must.NoError(t, p.Client.Create(t.Context(), u))
		}
		plan, text = ahead(t, p)
		if plan.Blocked() || plan.MissingRoles != "" || plan.NotExamined != "" || strings.Contains(text, "--missing-roles") {
			t.Errorf("%s: with them there is still missing, not examined: %s\n%s", name, plan.NotExamined, plan.MissingRoles)
		}
	}
	p := planner(t, confined("")...)
	p.Command = "fairlead plan mine -n ops --api v0"
	_, text := ahead(t, p)
	must.Contain(t, "a command", text, "granted with: fairlead plan mine -n ops --api v0 --missing-roles | kubectl auth reconcile -f -\n")
	for name, test := range map[string]struct {
		p    Planner
		want string
	}{
		"no account":      {planner(t, subscribed(t, "greeter-operator", "")...), "OperatorGroup ops/all names no service account, so operators are installed with the rights of the manager"},
		"nothing to do":   {planner(t, subscribed(t, "greeter-operator", "1.2.0")...), "nothing would be installed"},
		"no such rights":  {forbid(t, planner(t, confined("")...), "ClusterRole"), "roles and bindings cannot be read as user tina: they tell what ServiceAccount scoped may do"},
		"no group at all": {planner(t, subscribed(t, "greeter-operator", "")[:2]...), "namespace ops does not have exactly one OperatorGroup with targets, which says whose rights count"},
	} {
		plan, _ := ahead(t, test.p)
		must.Equal(t, name, plan.NotExamined, test.want)
		must.Equal(t, name, plan.MissingRoles, "")
	}
}

// TestObjectsOfAnOpenPlan: those of its steps, which may be in the plan or have to be read from the image that it names; and what its account lacks.
func TestObjectsOfAnOpenPlan(t *testing.T) {
	const name = "greeter-operator.v1.2.0"
	open := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	open.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	open.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: name, Path: "registry.example.com/greeter:v1.2.0", Replaces: "greeter-operator.v1.0.0",
		CatalogSourceRef: &corev1.ObjectReference{Namespace: "ops", Name: "demo"}}}
	open.Status.Plan = []*v1alpha1.Step{{Resource: v1alpha1.StepResource{Kind: "Secret", Name: "pull", Version: "v1"}}}
	for _, s := range must.Value(bundle.PlanSteps(load(t, "1.2.0"), bundle.StepTarget{Namespace: "ops", Replaces: "greeter-operator.v1.0.0"}))(t) {
		manifest := string(must.Value(json.Marshal(s.Object))(t))
		if s.Kind == "Role" {
			manifest = fmt.Sprintf(`{"kind":"ContentReference","digest":%q,"size":%d}`, bundleio.Digest([]byte(manifest)), len(manifest))
		}
		open.Status.Plan = append(open.Status.Plan, &v1alpha1.Step{Resolving: name, Resource: v1alpha1.StepResource{Kind: s.Kind, Name: s.Object.GetName(), Manifest: manifest}})
	}
	objects := subscribed(t, "greeter-operator", "1.0.0")
	for _, o := range objects {
		if group, is := o.(*operatorsv1.OperatorGroup); is {
			group.Spec.ServiceAccountName = "scoped"
		}
	}
	p := planner(t, objects...)
	fetched := 0
	p.Fetch = func(_ context.Context, r bundleio.Request) (*bundle.Bundle, error) {
		must.Equal(t, "image", r.Image, "registry.example.com/greeter:v1.2.0")
		fetched++
		return load(t, "1.2.0"), nil
	}
	plan := must.Value(p.Open(t.Context(), open, "mine", nil))(t)
	var text strings.Builder
	must.NoError(t, plan.Write(&text))
	if fetched != 1 || !plan.Blocked() || len(plan.Operators) != 1 || plan.Totals.Created != 4 || plan.Totals.Changed != 2 || plan.Totals.Unchanged != 1 {
		t.Errorf("fetched %d times, %+v\n%s", fetched, plan.Totals, text.String())
	}
	must.Contain(t, "text", text.String(), "Subscription ops/mine: this InstallPlan is next\n", "the objects of its steps: fairlead plan show install-1 -n ops --manifests\n",
		"\ngreeter-operator.v1.0.0 -> greeter-operator.v1.2.0\n", "7 objects: 4 created, 2 changed, 1 unchanged\n", "fairlead plan mine -n ops --missing-roles | kubectl auth reconcile -f -\n")
	must.Contain(t, "roles", plan.MissingRoles, "- deployments")
	must.Equal(t, "manifests in the plan", plan.Waiting.Operators[1].Steps[0].Object, nil)

	p.Fetch = func(context.Context, bundleio.Request) (*bundle.Bundle, error) {
		return nil, errors.New("the registry does not answer")
	}
	plan = must.Value(p.Open(t.Context(), open, "mine", nil))(t)
	must.Contain(t, "why not examined", plan.NotExamined, "what its objects change is not known from here: ", "the registry does not answer")
	must.Equal(t, "notes", plan.Notes, []string{plan.NotExamined})
	open.Status = v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhasePlanning}
	must.Equal(t, "a plan without steps", must.Value(p.Open(t.Context(), open, "mine", nil))(t).NotExamined, "InstallPlan install-1 has no steps yet")
}

// TestWhatAMisfitTellsIsSaidOnce: a name that is too long is known from the catalog, and from the bundle again.
func TestWhatAMisfitTellsIsSaidOnce(t *testing.T) {
	misfits := []Misfit{{Operator: "a.v1", Reason: "too long"}, {Operator: "b.v1", Reason: "no group"}}
	must.Equal(t, "of a", beyond([]string{"too long", "no group"}, misfits, "a.v1"), []string{"no group"})
	must.Equal(t, "of c", beyond([]string{"too long"}, misfits, "c.v1"), []string{"too long"})
}
