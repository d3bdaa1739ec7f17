package providedapi

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// unbroughtCRD is a definition that no plan brought, with a label unless that is empty.
func unbroughtCRD(label string) *apiextensionsv1.CustomResourceDefinition {
	crd := crd()
	crd.Annotations = nil
	if label != "" {
		crd.Labels = map[string]string{v1alpha1.ProvidedRolesLabel: label}
	}
	return crd
}

// granting are the objects that give an account rules in the whole cluster.
func granting(rules ...rbacv1.PolicyRule) []client.Object {
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "granted"}, Rules: rules},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "granted"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "granted"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "a", Name: "installer"}}},
	}
}

// TestJustification: which operators give roles, and the message of those that do not.
func TestJustification(t *testing.T) {
	const provided = "etcdclusters"
	writesRoles := rbacv1.PolicyRule{Verbs: []string{"get", "create", "update", "patch", "delete"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}}
	escalates := rbacv1.PolicyRule{Verbs: []string{"escalate"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}}
	holds := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"etcd.database.coreos.com"}, Resources: []string{provided}}
	reads := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}}
	confined := func(definition client.Object, rules ...rbacv1.PolicyRule) []client.Object {
		return append(granting(rules...), definition, operator("a", 1, nil), group("a", "installer"))
	}
	brings := func(name string) client.Object {
		c := unbroughtCRD("")
		c.Annotations = map[string]string{bundle.InstalledAlongsideKey("a", "op.v1"): name}
		return c
	}
	lifecycle := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "operatorgroups.operators.coreos.com", UID: "og",
		Labels: map[string]string{v1alpha1.ProvidedRolesLabel: "true"}}}
	for name, test := range map[string]struct {
		objects []client.Object
		roles   int
		told    string
	}{
		"brought":                       {[]client.Object{crd(), operator("a", 1, nil)}, 4, ""},
		"brought, no plan is named":     {[]client.Object{brings("a/op.v1"), operator("a", 1, nil)}, 4, ""},
		"brought for another":           {[]client.Object{brings("a/op.v10"), operator("a", 1, nil)}, 0, "no InstallPlan brought"},
		"there before the plan":         {[]client.Object{written(), operator("a", 1, nil)}, 0, "no InstallPlan brought"},
		"there before":                  {[]client.Object{unbroughtCRD(""), operator("a", 1, nil)}, 0, "no InstallPlan brought CustomResourceDefinition " + etcd + " for it, or it was there before; an administrator allows it by the label operators.fairlead.dev/provided-roles=true"},
		"labelled":                      {[]client.Object{unbroughtCRD("true"), operator("a", 1, nil)}, 4, ""},
		"labelled otherwise":            {[]client.Object{unbroughtCRD("yes"), operator("a", 1, nil)}, 0, "no InstallPlan brought"},
		"brought and forbidden":         {[]client.Object{forbidden(), operator("a", 1, nil)}, 0, "provided-roles=false"},
		"lifecycle management":          {[]client.Object{lifecycle, operator("a", 1, owning(lifecycle.Name))}, 0, "operator lifecycle management itself"},
		"owns lifecycle kinds too":      {[]client.Object{crd(), operator("a", 1, owning(etcd, lifecycle.Name))}, 0, "operator lifecycle management itself"},
		"several groups":                {[]client.Object{crd(), operator("a", 1, nil), group("a", ""), other(group("a", ""))}, 0, ""},
		"an account without rights":     {confined(crd()), 0, "ServiceAccount a/installer of OperatorGroup group may not make these ClusterRoles itself: it lacks "},
		"an account that holds the API": {confined(crd(), holds, reads), 0, "it lacks "},
		"an account that writes roles":  {confined(crd(), writesRoles), 0, "etcd.database.coreos.com"},
		"an account that holds both":    {confined(crd(), holds, reads, writesRoles), 4, ""},
		"an account that may escalate":  {confined(crd(), escalates, writesRoles), 4, ""},
		"an account, labelled":          {confined(unbroughtCRD("true")), 4, ""},
		"an account, not brought":       {confined(unbroughtCRD(""), holds, reads, writesRoles), 0, "no InstallPlan brought"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, test.objects...)
			definition := etcd
			if strings.HasPrefix(name, "lifecycle") {
				definition = lifecycle.Name
			}
			k.pass(kindCRD, definition)
			if got := k.provided(); len(got) != test.roles {
				t.Errorf("roles %v", got)
			}
			event := ""
			select {
			case event = <-k.Events.Events:
			default:
			}
			if (event == "") != (test.told == "") || !strings.Contains(event, test.told) {
				t.Errorf("event %q, want %q", event, test.told)
			}
			k.pass(kindCRD, definition)
			must.Empty(t, "events afterwards", k.Events.Events)
		})
	}
}

// written is a definition that a plan has written, and not created.
func written() client.Object {
	c := crd()
	delete(c.Annotations, v1alpha1.OriginAnnotation)
	return c
}

func forbidden() client.Object {
	c := crd()
	c.Labels = map[string]string{v1alpha1.ProvidedRolesLabel: "false"}
	return c
}

func other(g *operatorsv1.OperatorGroup) *operatorsv1.OperatorGroup {
	g.Name = "other"
	return g
}

func owning(names ...string) func(*v1alpha1.ClusterServiceVersion) {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = nil
		for _, name := range names {
			csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned, v1alpha1.CRDDescription{Name: name, Version: "v1beta1", Kind: "Thing"})
		}
	}
}

// provided are the names of the roles that the controller made.
func (k *cluster) provided() []string {
	var out []string
	for name, r := range k.roles() {
		if isProvided(&r) {
			out = append(out, name)
		}
	}
	return out
}

// TestRolesGoWithTheirOperators: a role is there as long as an operator that justifies it, whatever its phase, and no longer.
func TestRolesGoWithTheirOperators(t *testing.T) {
	phase := func(phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) func(*cluster, *v1alpha1.ClusterServiceVersion) {
		return func(k *cluster, csv *v1alpha1.ClusterServiceVersion) {
			csv.Status.Phase, csv.Status.Reason = phase, reason
			k.update(csv)
		}
	}
	for name, test := range map[string]struct {
		change func(*cluster, *v1alpha1.ClusterServiceVersion)
		roles  int
	}{
		"fails":                {phase(v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonComponentUnhealthy), 4},
		"is installed again":   {phase(v1alpha1.CSVPhasePending, v1alpha1.CSVReasonNeedsReinstall), 4},
		"is being replaced":    {phase(v1alpha1.CSVPhaseReplacing, v1alpha1.CSVReasonBeingReplaced), 4},
		"loses its group":      {phase(v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonNoOperatorGroup), 4},
		"gives way to another": {phase(v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonInterOperatorGroupOwnerConflict), 0},
		"is refused ownership": {phase(v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonOwnerConflict), 0},
		"is deleted":           {func(k *cluster, csv *v1alpha1.ClusterServiceVersion) { k.delete(csv) }, 0},
		"owns it no longer": {func(k *cluster, csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Owned = nil
			k.update(csv)
		}, 0},
		"owns another version": {func(k *cluster, csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Owned[0].Version = "v1"
			k.update(csv)
		}, 4},
		"gets an account": {func(k *cluster, _ *v1alpha1.ClusterServiceVersion) {
			g := &operatorsv1.OperatorGroup{}
			k.get("a", "group", g)
			g.Spec.ServiceAccountName = "installer"
			k.update(g)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, crd(), operator("a", 1, nil))
			k.pass(kindCRD, etcd)
			csv := &v1alpha1.ClusterServiceVersion{}
			k.get("a", "op.v1", csv)
			test.change(k, csv)
			k.pass(kindCRD, etcd)
			if got := k.provided(); len(got) != test.roles {
				t.Errorf("roles %v, want %d", got, test.roles)
			}
			must.Equal(t, "removal is told", strings.Contains(k.all(), ReasonRolesRemoved), test.roles == 0 || name == "owns another version")
			k.Taken()
			k.pass(kindCRD, etcd)
			must.Empty(t, "writes though nothing has changed", k.Taken())
		})
	}
}

// TestUpgradeDoesNotFlap: the roles of the replaced version stay until those of the new one exist.
func TestUpgradeDoesNotFlap(t *testing.T) {
	definition := crd()
	definition.Annotations[bundle.InstalledAlongsideKey("a", "op.v2")] = "a/op.v2"
	k := newCluster(t, definition, operator("a", 1, nil))
	k.pass(kindCRD, etcd)
	v2 := operator("a", 2, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Name, csv.UID, csv.Spec.Replaces, csv.Status.Phase = "op.v2", "v2", "op.v1", v1alpha1.CSVPhaseInstalling
		csv.Spec.CustomResourceDefinitions.Owned[0].Version = "v1"
	})
	k.create(v2)
	if k.pass(kindCRD, etcd); len(k.provided()) != 4 {
		t.Errorf("while it is installed: %v", k.provided())
	}
	v2.Status.Phase = v1alpha1.CSVPhaseSucceeded
	k.update(v2)
	v1 := &v1alpha1.ClusterServiceVersion{}
	k.get("a", "op.v1", v1)
	k.delete(v1)
	k.Taken()
	roles := k.pass(kindCRD, etcd)
	if writes := k.Taken(); len(k.provided()) != 4 || roles[etcd+"-v1-edit"].Name == "" || len(writes) == 0 || !strings.HasPrefix(writes[0], "apply ClusterRole "+etcd+"-v1-") {
		t.Errorf("afterwards: %v, written were %v", k.provided(), writes)
	}
}

// TestAnotherOfTheName: a tenant deletes the operator that the definition was brought for, and creates another one of its name. It justifies nothing,
// also when the manager never saw the deletion; what a plan brings again does.
func TestAnotherOfTheName(t *testing.T) {
	for name, seen := range map[string]bool{"the deletion is seen": true, "the deletion is not seen": false} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, crd(), operator("a", 1, nil))
			k.pass(kindCRD, etcd)
			first := &v1alpha1.ClusterServiceVersion{}
			k.get("a", "op.v1", first)
			k.delete(first)
			if seen {
				k.pass(kindCRD, etcd)
			}
			k.create(operator("a", 5, func(csv *v1alpha1.ClusterServiceVersion) { csv.UID = "another" }))
			for range 2 { // what is forgotten once stays so
				k.pass(kindCRD, etcd)
				if got := k.provided(); len(got) > 0 {
					t.Fatalf("it has roles %v", got)
				}
			}
			definition := &apiextensionsv1.CustomResourceDefinition{}
			k.get("", etcd, definition)
			if _, ok := definition.Annotations[bundle.InstalledAlongsideKey("a", "op.v1")]; ok {
				t.Error("the definition still says that it was brought for it")
			}
			if _, ok := definition.Annotations[bundle.InstalledAlongsideKey("b", "op.v1")]; !ok {
				t.Error("it does not say any more that it was brought for another operator, which is to come")
			}
			definition.Annotations[bundle.InstalledAlongsideKey("a", "op.v1")] = "a/op.v1"
			definition.Annotations[bundle.BroughtByKey("a", "op.v1")] = "another plan"
			k.update(definition)
			if k.pass(kindCRD, etcd); len(k.provided()) != 4 {
				t.Errorf("when a plan has brought it again: %v", k.provided())
			}
		})
	}
}

// TestAnotherOfTheNameBeforeTheRoles: the operator that the definition was brought for is replaced by another one of its name while its roles still wait
// for other installations to end. The other one justifies nothing, neither by the definition nor by an aggregated API of the same resource.
func TestAnotherOfTheNameBeforeTheRoles(t *testing.T) {
	for name, seen := range map[string]bool{"the deletion is seen": true, "the deletion is not seen": false} {
		t.Run(name, func(t *testing.T) {
			installing := metav1.Now()
			busy := operator("b", 2, func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Name, csv.Spec.CustomResourceDefinitions.Owned = "busy", nil
				csv.Status.Phase, csv.Status.LastUpdateTime = v1alpha1.CSVPhaseInstalling, &installing
			})
			settled := func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.LastUpdateTime = &installing }
			k := newCluster(t, crd(), operator("a", 1, settled), busy)
			if k.pass(kindCRD, etcd); len(k.provided()) > 0 {
				t.Fatalf("roles are not put off: %v", k.provided())
			}
			first := &v1alpha1.ClusterServiceVersion{}
			k.get("a", "op.v1", first)
			k.delete(first)
			if seen {
				k.pass(kindCRD, etcd)
			}
			k.delete(busy)
			k.create(operator("a", 5, func(csv *v1alpha1.ClusterServiceVersion) { csv.UID = "another" }))
			for range 2 {
				k.pass(kindCRD, etcd)
				if got := k.provided(); len(got) > 0 {
					t.Fatalf("it has roles %v", got)
				}
			}
			definition := &apiextensionsv1.CustomResourceDefinition{}
			k.get("", etcd, definition)
			if _, ok := definition.Annotations[bundle.InstalledAlongsideKey("a", "op.v1")]; ok {
				t.Error("the definition still says that it was brought for it")
			}
			if _, ok := definition.Annotations[bundle.InstalledAlongsideKey("b", "op.v1")]; !ok {
				t.Error("it does not say any more that it was brought for another operator, which is to come")
			}
		})
	}
}

// TestForgedMemoryIsNotBelieved: what another field manager writes into a role, such as an InstallPlan whose bundle has a ClusterRole of that name, does
// not keep an operator from its roles, and is overwritten where the controller has its own record.
func TestForgedMemoryIsNotBelieved(t *testing.T) {
	k := newCluster(t, crd(), operator("a", 1, nil))
	k.t.Helper()
	made := newCluster(k.t, crd(), operator("a", 1, nil)).pass(kindCRD, etcd)[etcd+"-v1beta2-crdview"]
	forged := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Labels: made.Labels, OwnerReferences: made.OwnerReferences}, Rules: made.Rules}
	forged.Name = etcd + "-v1beta2-crdview"
	forged.Annotations = map[string]string{v1alpha1.ProvidersAnnotation: "a/op.v1=forged/plan"}
	k.create(forged)
	k.pass(kindCRD, etcd)
	if got := k.provided(); len(got) != 4 {
		t.Errorf("roles %v", got)
	}
	k.get("", forged.Name, forged)
	must.Contain(t, "annotation", forged.Annotations[v1alpha1.ProvidersAnnotation], "a/op.v1=a-op/plan")
	admin := &rbacv1.ClusterRole{}
	k.get("", etcd+"-v1beta2-admin", admin) // the controller applied this one, and no annotation of it
	admin.Annotations = map[string]string{v1alpha1.ProvidersAnnotation: "a/op.v1=forged/plan"}
	k.update(admin)
	k.pass(kindCRD, etcd)
	if got := k.provided(); len(got) != 4 {
		t.Errorf("after one more is forged: roles %v", got)
	}
}

// TestWhatIsToldIsForgotten: what was reported of operators is kept no longer than the operators own the definition.
func TestWhatIsToldIsForgotten(t *testing.T) {
	for name, end := range map[string]func(*cluster){
		"the operator is deleted":   func(k *cluster) { k.delete(operator("a", 1, nil)) },
		"the definition is deleted": func(k *cluster) { k.delete(unbroughtCRD("")) },
	} {
		k := newCluster(t, unbroughtCRD(""), operator("a", 1, nil), operator("b", 2, nil))
		if k.pass(kindCRD, etcd); len(k.told[kindCRD+"/"+etcd]) != 2 {
			t.Fatalf("told %v", k.told)
		}
		end(k)
		k.pass(kindCRD, etcd)
		if name == "the operator is deleted" {
			if len(k.told[kindCRD+"/"+etcd]) != 1 {
				t.Errorf("%s: told %v", name, k.told)
			}
			k.delete(operator("b", 2, nil))
			k.pass(kindCRD, etcd)
		}
		must.Empty(t, name+": told", k.told)
	}
	if !saysElse.Delete(event.DeleteEvent{Object: crd()}) {
		t.Error("the end of a definition wakes nothing up")
	}
}

// TestCacheKeepsOwnFields: the cache of the manager leaves out what others applied, which is much, and keeps what the controller believes.
func TestCacheKeepsOwnFields(t *testing.T) {
	role := newCluster(t, crd(), operator("a", 1, nil)).pass(kindCRD, etcd)[etcd+"-v1beta2-crdview"]
	role.ManagedFields = append(role.ManagedFields, metav1.ManagedFieldsEntry{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply})
	for _, options := range CacheOptions() {
		must.Value(options.Transform(&role))(t)
	}
	if len(role.ManagedFields) != 1 || !isOwnMemory(&role) {
		t.Errorf("managed fields %v", role.ManagedFields)
	}
}

// TestBroughtAgainAtOnce: a plan brings an operator again before the end of the one that had its name is noticed.
func TestBroughtAgainAtOnce(t *testing.T) {
	k := newCluster(t, crd(), operator("a", 1, nil))
	k.pass(kindCRD, etcd)
	first, definition := &v1alpha1.ClusterServiceVersion{}, &apiextensionsv1.CustomResourceDefinition{}
	k.get("a", "op.v1", first)
	k.delete(first)
	k.get("", etcd, definition)
	definition.Annotations[bundle.BroughtByKey("a", "op.v1")] = "another plan"
	k.update(definition)
	k.pass(kindCRD, etcd) // its operator is to come
	k.create(operator("a", 5, func(csv *v1alpha1.ClusterServiceVersion) { csv.UID = "another" }))
	if k.pass(kindCRD, etcd); len(k.provided()) != 4 {
		t.Errorf("roles %v", k.provided())
	}
}

// TestForeignRolesStay: roles that people made for a definition are not the manager's, whatever they are called.
func TestForeignRolesStay(t *testing.T) {
	made := newCluster(t, crd(), operator("a", 1, nil)).pass(kindCRD, etcd)
	for name, change := range map[string]func(*rbacv1.ClusterRole){
		"not managed":  func(r *rbacv1.ClusterRole) { delete(r.Labels, v1alpha1.ManagedLabel) },
		"another name": func(r *rbacv1.ClusterRole) { r.Name = "mine" },
		"no label of the API": func(r *rbacv1.ClusterRole) {
			delete(r.Labels, v1alpha1.OperatorGroupAggregationLabelPrefix+"c571d720f17289d3-edit")
		},
		"no owner":               func(r *rbacv1.ClusterRole) { r.OwnerReferences = nil },
		"not gathered":           func(r *rbacv1.ClusterRole) { delete(r.Labels, v1alpha1.RBACAggregationLabelPrefix+"edit") },
		"of another definition":  func(r *rbacv1.ClusterRole) { r.OwnerReferences[0].Name = "other" },
		"of a kind that is none": func(r *rbacv1.ClusterRole) { r.OwnerReferences[0].Kind = "ConfigMap" },
	} {
		live := made[etcd+"-v1beta2-edit"]
		role := *live.DeepCopy()
		role.ResourceVersion = ""
		role.UID = types.UID(name)
		change(&role)
		k := newCluster(t, crd(), &role)
		if _, stays := k.pass(kindCRD, etcd)[role.Name]; !stays {
			t.Errorf("%s: it is removed", name)
		}
	}
	role := made[etcd+"-v1beta2-edit"]
	role.ResourceVersion = ""
	k := newCluster(t, crd(), &role)
	if roles := k.pass(kindCRD, etcd); len(roles) > 0 || !strings.Contains(k.all(), ReasonRolesRemoved) {
		t.Errorf("a role that an earlier manager made stays: %s", names(roles))
	}
}

// TestLimitedManagers do not take the roles that operators of other namespaces justify.
func TestLimitedManagers(t *testing.T) {
	for name, test := range map[string]struct {
		there  *v1alpha1.ClusterServiceVersion
		denied bool
		roles  int
	}{
		"no other operator":               {nil, false, 0},
		"one that justifies them":         {operator("b", 2, nil), false, 4},
		"one that owns something else":    {operator("b", 2, owning("others.example.com")), false, 0},
		"others are not shown":            {nil, true, 4},
		"one that nothing was brought to": {operator("other", 2, nil), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{crd(), operator("a", 1, nil)}
			if test.there != nil {
				objects = append(objects, test.there)
			}
			k := newCluster(t, objects...)
			k.namespaces, k.denied = []string{"a"}, test.denied
			k.pass(kindCRD, etcd)
			mine := &v1alpha1.ClusterServiceVersion{}
			k.get("a", "op.v1", mine)
			k.delete(mine)
			k.pass(kindCRD, etcd)
			if got := k.provided(); len(got) != test.roles {
				t.Errorf("roles %v, want %d", got, test.roles)
			}
		})
	}
}

// TestAPIServiceBesideADefinition: an aggregated API opens a resource in all versions of its group, those of a CRD included.
func TestAPIServiceBesideADefinition(t *testing.T) {
	serves := operator("a", 1, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = nil
		csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "etcdclusters", Group: "etcd.database.coreos.com", Version: "v9", Kind: "EtcdCluster"}}
	})
	registered := service("v9.etcd.database.coreos.com")
	foreign := service("v9.etcd.database.coreos.com")
	foreign.Labels[v1alpha1.OwnerNamespaceLabel] = "b"
	for name, test := range map[string]struct {
		objects []client.Object
		roles   int
	}{
		"no definition":              {[]client.Object{registered}, 3},
		"registered for another":     {[]client.Object{foreign}, 0},
		"another's definition":       {[]client.Object{registered, unbroughtCRD("")}, 0},
		"its own definition":         {[]client.Object{registered, crd()}, 3},
		"a definition that is open":  {[]client.Object{registered, unbroughtCRD("true")}, 3},
		"not registered, but opened": {[]client.Object{opened(foreign)}, 3},
	} {
		k := newCluster(t, append(test.objects, serves.DeepCopy())...)
		if k.pass(kindAPIService, "v9.etcd.database.coreos.com"); len(k.provided()) != test.roles {
			t.Errorf("%s: roles %v", name, k.provided())
		}
	}
}

func opened(o client.Object) client.Object {
	o = o.DeepCopyObject().(client.Object)
	labels := o.GetLabels()
	labels[v1alpha1.ProvidedRolesLabel] = "true"
	o.SetLabels(labels)
	return o
}

func (k *cluster) get(namespace, name string, into client.Object) {
	k.t.Helper()
	must.NoError(k.t, k.client.Get(k.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, into))
}

func (k *cluster) update(o client.Object) {
	k.t.Helper()
	must.NoError(k.t, k.client.Update(k.t.Context(), o))
}

func (k *cluster) create(o client.Object) {
	k.t.Helper()
	must.NoError(k.t, k.client.Create(k.t.Context(), o))
}

func (k *cluster) delete(o client.Object) {
	k.t.Helper()
	uid := o.GetUID()
	must.NoError(k.t, k.client.Delete(k.t.Context(), o, client.Preconditions{UID: &uid}))
}

// all are the events so far.
func (k *cluster) all() string {
	var out []string
	for len(k.Events.Events) > 0 {
		out = append(out, <-k.Events.Events)
	}
	return strings.Join(out, "\n")
}
