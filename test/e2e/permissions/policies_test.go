package permissions

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

var extensionKind = schema.GroupVersionKind{Group: olmv1.GroupName, Version: "v1", Kind: "ClusterExtension"}

// extension is one of a package, with or without a service account of the namespace tools.
func extension(name, account string, change ...func(*olmv1.ClusterExtension)) *olmv1.ClusterExtension {
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterExtensionSpec{
		Namespace: "tools",
		Source:    olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "argocd-operator"}},
	}}
	if account != "" {
		ext.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: account}
	}
	for _, change := range change {
		change(ext)
	}
	return ext
}

func revisionSet(name, account string) *olmv1.ClusterObjectSet {
	set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterObjectSetSpec{
		LifecycleState: olmv1.LifecycleStateActive, Revision: 1, CollisionProtection: olmv1.CollisionProtectionPrevent,
	}}
	if account != "" {
		set.Annotations = map[string]string{"operators.fairlead.dev/service-account": account}
	}
	return set
}

// ofExtension is a set that claims to be a revision of an extension.
func ofExtension(set *olmv1.ClusterObjectSet) *olmv1.ClusterObjectSet {
	yes := true
	set.OwnerReferences = []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: "of-boss", UID: "any", Controller: &yes}}
	return set
}

const usersRoles = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: revision-editor}
rules:
- {apiGroups: [olm.operatorframework.io], resources: [clusterobjectsets, clusterextensions], verbs: [create, get, list, update, patch]}
- {apiGroups: [olm.operatorframework.io], resources: [clusterobjectsets], verbs: [delete]}
- {apiGroups: [olm.operatorframework.io], resources: [clusterobjectsets/status], verbs: [get, update, patch]}
---
apiVersion: v1
kind: Namespace
metadata: {name: tools}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: use-installer, namespace: tools}
rules:
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [installer], verbs: [impersonate]}
- {apiGroups: [""], resources: [serviceaccounts/token], resourceNames: [deployer], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: use-installer, namespace: tools}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: use-installer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: writer}]
`

// TestWhoMayLetAnExtensionActAsWhom: S4. An account is named by those who may use it, and none is named by administrators.
func TestWhoMayLetAnExtensionActAsWhom(t *testing.T) {
	w := newWorld(t)
	w.apply("../../../config/rbac-users-v1.yaml")
	w.create(read(t, []byte(usersRoles))...)
	w.apply("../../../config/policies.yaml")
	w.bind("writer", "clusterextension-editor-role")
	w.bind("writer", "revision-editor")
	const managerUser = "system:serviceaccount:olm:fairlead-manager"
	w.bind(managerUser, "clusterextension-editor-role")
	w.bind(managerUser, "revision-editor")
	w.bind("boss", "clusterextension-admin-role")
	writer, boss := w.as("writer"), w.as("boss")
	w.awaitPolicies(func() error { return writer.Create(t.Context(), extension("probe", ""), client.DryRunAll) })
	w.awaitPolicies(func() error { return writer.Create(t.Context(), extension("probe", "other"), client.DryRunAll) })
	w.awaitPolicies(func() error { return writer.Create(t.Context(), revisionSet("probe-1", ""), client.DryRunAll) })
	w.awaitPolicies(func() error {
		return writer.Create(t.Context(), revisionSet("probe-1", "tools/other"), client.DryRunAll)
	})
	w.awaitPolicies(func() error {
		return writer.Create(t.Context(), ofExtension(revisionSet("probe-1", "tools/installer")), client.DryRunAll)
	})

	creating := map[string]struct {
		who     client.Client
		object  client.Object
		refused string
	}{
		"an account that one may impersonate":         {writer, extension("a", "installer"), ""},
		"an account whose tokens one may ask for":     {writer, extension("a", "deployer"), ""},
		"a foreign account":                           {writer, extension("a", "other"), "writer may not use the service account other of namespace tools"},
		"the account of a foreign namespace":          {writer, extension("a", "installer", func(e *olmv1.ClusterExtension) { e.Spec.Namespace = "kube-system" }), "may not use the service account installer of namespace kube-system"},
		"no account":                                  {writer, extension("a", ""), "writer may not install with the rights of the manager"},
		"no account, with the verb for it":            {boss, extension("a", ""), ""},
		"a foreign account, with the verb for none":   {boss, extension("a", "installer"), "boss may not use the service account installer"},
		"an administrator, without account":           {w.Client, extension("a", ""), ""},
		"an administrator, with any account":          {w.Client, extension("a", "other"), ""},
		"the manager":                                 {w.as(managerUser), extension("a", ""), ""},
		"a revision with an account that one may use": {writer, revisionSet("r-1", "tools/installer"), ""},
		"a revision with a foreign account":           {writer, revisionSet("r-1", "kube-system/installer"), "writer may not use the service account kube-system/installer"},
		"a revision with half an account":             {writer, revisionSet("r-1", "installer"), "writer may not use the service account installer"},
		"a revision of the manager":                   {writer, revisionSet("r-1", ""), "writer may not apply a revision with the rights of the manager"},
		"a revision of an administrator":              {w.Client, revisionSet("r-1", ""), ""},
		"a revision of somebody's extension":          {writer, ofExtension(revisionSet("r-1", "tools/installer")), "writer may not make or change the revisions of a ClusterExtension"},
		"a revision of an extension, by the manager":  {w.as(managerUser), ofExtension(revisionSet("r-1", "")), ""},
	}
	for name, test := range creating {
		t.Run(name, func(t *testing.T) {
			expect(t, test.who.Create(t.Context(), test.object.DeepCopyObject().(client.Object), client.DryRunAll), test.refused)
		})
	}
	t.Run("updates", func(t *testing.T) { w.updates(writer) })
	t.Run("removals", func(t *testing.T) { w.removals(writer, boss) })
	t.Run("statuses", func(t *testing.T) { w.statuses(writer, boss, w.as(managerUser)) })
	t.Run("foreground", func(*testing.T) { w.foreground(w.as(managerUser)) })
}

// statuses of revisions are believed: one that says it has succeeded takes the place of what is installed. Nobody else writes them, whoever's
// account the revision has.
func (w *world) statuses(writer, boss, manager client.Client) {
	t := w.t
	const namesake = "system:serviceaccount:tools:fairlead-manager"
	w.bind("boss", "revision-editor")
	w.bind(namesake, "revision-editor")
	set := revisionSet("believed-1", "tools/installer")
	must.NoError(t, w.Create(t.Context(), set))
	t.Cleanup(func() { _ = w.Delete(context.Background(), set) })
	write := func(c client.Client, how string) error {
		forged := set.DeepCopy()
		before := client.MergeFrom(set.DeepCopy())
		forged.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeSucceeded, Status: metav1.ConditionTrue, Reason: "Succeeded", Message: "x", LastTransitionTime: metav1.Now()}}
		if how == "patch" {
			return c.Status().Patch(t.Context(), forged, before, &client.SubResourcePatchOptions{PatchOptions: client.PatchOptions{DryRun: []string{metav1.DryRunAll}}})
		}
		return c.Status().Update(t.Context(), forged, &client.SubResourceUpdateOptions{UpdateOptions: client.UpdateOptions{DryRun: []string{metav1.DryRunAll}}})
	}
	w.awaitPolicies(func() error { return write(writer, "update") })
	for name, test := range map[string]struct {
		who     client.Client
		refused string
	}{
		"who may use its account":         {writer, "writer may not write the status of a ClusterObjectSet"},
		"who may install as the manager":  {boss, "boss may not write the status of a ClusterObjectSet"},
		"the manager":                     {manager, ""},
		"an administrator, as always":     {w.Client, ""},
		"an account of another name":      {w.as("system:serviceaccount:tools:fairlead-manager"), "forbidden"},
		"the collector, who needs it not": {w.as("system:serviceaccount:kube-system:generic-garbage-collector"), "forbidden"},
	} {
		for _, how := range []string{"patch", "update"} {
			t.Run(name+", "+how, func(t *testing.T) { expect(t, write(test.who, how), test.refused) })
		}
	}
	labelled := set.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	expect(t, writer.Update(t.Context(), labelled, client.DryRunAll), "")
}

// updates of extensions that somebody else has made are refused when they change what is done, and only then.
func (w *world) updates(writer client.Client) {
	t := w.t
	create := func(ext *olmv1.ClusterExtension) {
		must.NoError(t, w.Create(t.Context(), ext))
		t.Cleanup(func() { _ = w.Delete(context.Background(), ext) })
	}
	create(extension("of-manager", ""))
	create(extension("of-other", "other"))
	create(extension("of-writer", "installer"))
	patch := func(name, patch string) error {
		ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}}
		return writer.Patch(t.Context(), ext, client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll)
	}
	const version, label, note, ours = `{"spec":{"source":{"catalog":{"version":"1.2.3"}}}}`, `{"metadata":{"labels":{"a":"b"}}}`,
		`{"metadata":{"annotations":{"example.com/note":"x"}}}`, `{"metadata":{"annotations":{"operators.fairlead.dev/acknowledged-permissions":"x"}}}`
	// An empty value is one as well: the controller asks whether these are there.
	const empty, emptyImage = `{"metadata":{"annotations":{"operators.fairlead.dev/rollback-to":""}}}`, `{"metadata":{"annotations":{"operators.fairlead.dev/bundle-image":""}}}`
	const manager, account = "may not install with the rights of the manager", "may not use the service account other"
	for _, test := range []struct{ name, patch, refused string }{
		{"of-manager", version, manager},
		{"of-manager", label, ""},
		{"of-manager", note, ""},
		{"of-manager", ours, manager},
		{"of-manager", empty, manager},
		{"of-manager", emptyImage, manager},
		{"of-other", version, account},
		{"of-other", ours, account},
		{"of-other", empty, account},
		{"of-other", label, ""},
		{"of-writer", version, ""},
		{"of-writer", ours, ""},
		{"of-writer", empty, ""},
		{"of-writer", `{"spec":{"serviceAccount":null}}`, manager},
	} {
		t.Run(test.name+" "+test.patch, func(t *testing.T) { expect(t, patch(test.name, test.patch), test.refused) })
	}
}

// removals of what an extension has: its revisions go with the right to delete the extension, and what the manager takes out is left to it.
func (w *world) removals(writer, boss client.Client) {
	t := w.t
	w.bind("remover", "revision-editor")
	remover := w.as("remover")
	const teardown, other = "olm.operatorframework.io/teardown", "example.com/other"
	create := func(o client.Object, finalizers ...string) {
		o.SetFinalizers(finalizers)
		must.NoError(t, w.Create(t.Context(), o))
		t.Cleanup(func() {
			o.SetResourceVersion("")
			if err := w.Patch(context.Background(), o, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
			_ = w.Delete(context.Background(), o)
		})
	}
	ext := extension("removed", "")
	create(ext, "olm.operatorframework.io/cleanup-contentmanager-cache", other)
	owned := revisionSet("removed-1", "tools/installer")
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(ext, extensionKind)}
	create(owned, teardown, other)
	byHand := revisionSet("by-hand", "tools/installer")
	create(byHand, teardown)
	asManager := revisionSet("as-manager", "")
	create(asManager)
	of := func(o client.Object) client.Object { return o.DeepCopyObject().(client.Object) }
	remove := func(c client.Client, o client.Object) error { return c.Delete(t.Context(), of(o), client.DryRunAll) }
	patch := func(c client.Client, o client.Object, text string) error {
		return c.Patch(t.Context(), of(o), client.RawPatch("application/merge-patch+json", []byte(text)), client.DryRunAll)
	}
	w.awaitPolicies(func() error { return remove(remover, owned) })
	const empty = `{"metadata":{"annotations":{"operators.fairlead.dev/delete-crds":""}}}`
	const noFinalizer, ownOnly, noOwner, oursOnly = `{"metadata":{"finalizers":null}}`, `{"metadata":{"finalizers":["` + teardown + `"]}}`,
		`{"metadata":{"ownerReferences":null}}`, `{"metadata":{"finalizers":["olm.operatorframework.io/cleanup-contentmanager-cache"]}}`
	const mayNot, change, account, manager = "remover may not delete the revisions of a ClusterExtension", "may not make or change the revisions of a ClusterExtension",
		"may not use the service account tools/installer", "may not install with the rights of the manager"
	for name, test := range map[string]struct {
		err     error
		refused string
	}{
		"a revision, by who may delete extensions":                  {remove(writer, owned), ""},
		"a revision, by who may not":                                {remove(remover, owned), mayNot},
		"a revision, by an administrator":                           {remove(w.Client, owned), ""},
		"a revision, by the garbage collector":                      {remove(w.as("system:serviceaccount:kube-system:generic-garbage-collector"), owned), ""},
		"a set of nobody":                                           {remove(remover, byHand), ""},
		"the extension of a revision, by who may not delete that":   {patch(remover, owned, noOwner), mayNot},
		"the extension of a revision, by the garbage collector":     {patch(w.as("system:serviceaccount:kube-system:generic-garbage-collector"), owned, noOwner), ""},
		"the finalizer of a revision":                               {patch(writer, owned, noFinalizer), change},
		"somebody else's finalizer of a revision":                   {patch(writer, owned, ownOnly), ""},
		"the finalizer of a revision, by an administrator":          {patch(w.Client, owned, noFinalizer), ""},
		"the finalizer of a set, by who may use its account":        {patch(writer, byHand, noFinalizer), ""},
		"the finalizer of a set, by who may not":                    {patch(remover, byHand, noFinalizer), account},
		"an annotation without value, by who may use the account":   {patch(writer, byHand, empty), ""},
		"an annotation without value, by who may not":               {patch(remover, byHand, empty), account},
		"an annotation without value, of a set of the manager":      {patch(remover, asManager, empty), "may not apply a revision with the rights of the manager"},
		"the finalizer of an extension":                             {patch(writer, ext, noFinalizer), manager},
		"somebody else's finalizer of an extension":                 {patch(writer, ext, oursOnly), ""},
		"the finalizer of an extension, by who may act as manager":  {patch(boss, ext, noFinalizer), ""},
		"an extension of the manager, by who may delete extensions": {remove(writer, ext), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, test.err, test.refused) })
	}
}

// expect wants an error with a text, or none.
func expect(t *testing.T, err error, refused string) {
	t.Helper()
	if refused == "" && err != nil {
		t.Errorf("it is refused: %v", err)
	}
	if refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
		t.Errorf("the answer is %v; want a refusal with %q", err, refused)
	}
}

// TestSamplePolicyRestrictsInstallers: the scenarios of the specification about policies that users write.
func TestSamplePolicyRestrictsInstallers(t *testing.T) {
	w := newWorld(t)
	w.apply("../../../config/rbac-users-v1.yaml")
	w.apply("../../../docs/examples/extension-policy.yaml")
	w.bind("member", "clusterextension-editor-role")
	member, other := w.as("member", "tools-installers"), w.as("member")
	good := func(e *olmv1.ClusterExtension) {
		e.Spec.Source.Catalog.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"approved": "true"}}
	}
	must.Eventually(w.t, "the policies of other tests to be gone", func() error { return member.Create(t.Context(), extension("probe", "", good), client.DryRunAll) })
	w.awaitPolicies(func() error { return member.Create(t.Context(), extension("probe", ""), client.DryRunAll) })
	tests := map[string]struct {
		who     client.Client
		change  func(*olmv1.ClusterExtension)
		refused string
	}{
		"what is allowed":   {member, func(*olmv1.ClusterExtension) {}, ""},
		"another package":   {member, func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.PackageName = "miner" }, "the package miner is not among"},
		"another namespace": {member, func(e *olmv1.ClusterExtension) { e.Spec.Namespace = "kube-system" }, "not kube-system"},
		"another selector": {member, func(e *olmv1.ClusterExtension) {
			e.Spec.Source.Catalog.Selector.MatchLabels = map[string]string{"approved": "no"}
		}, "label approved=true"},
		"no selector":            {member, func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Selector = nil }, "label approved=true"},
		"SelfCertified":          {member, func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.UpgradeConstraintPolicy = "SelfCertified" }, "SelfCertified"},
		"CRD checks off":         {member, func(e *olmv1.ClusterExtension) { e.Spec.Install = noChecks() }, "may not switch off the checks of CRD upgrades"},
		"dependencies":           {member, annotated("install-dependencies", "true"), "may not use the annotations operators.fairlead.dev/install-dependencies"},
		"an image":               {member, annotated("bundle-image", "registry.example.com/miner@sha256:00"), "may not use the annotations operators.fairlead.dev/bundle-image"},
		"CRD checks exempted":    {member, annotated("crd-upgrade-exemptions", "removal"), "may not use the annotations operators.fairlead.dev/crd-upgrade-exemptions"},
		"definitions deleted":    {member, annotated("delete-crds", "*"), "may not use the annotations operators.fairlead.dev/delete-crds"},
		"somebody's operator":    {member, annotated("adopts", "tools/argocd-operator.v1.0.0"), "may not use the annotations operators.fairlead.dev/adopts"},
		"an earlier revision":    {member, annotated("rollback-to", "1"), "may not use the annotations operators.fairlead.dev/rollback-to"},
		"one of a later version": {member, annotated("of-a-later-version", "x"), "may not use the annotations operators.fairlead.dev/of-a-later-version"},
		"back after a failure":   {member, annotated("on-failure", "rollback"), ""},
		"any permission":         {member, annotated("acknowledged-permissions", "*"), "may not agree to whatever permissions"},
		"an annotation of theirs": {member, func(e *olmv1.ClusterExtension) {
			e.Annotations = map[string]string{"example.com/delete-crds": "*"}
		}, ""},
		"somebody of no group": {other, func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.PackageName = "miner" }, ""},
		"the checks left strict": {member, func(e *olmv1.ClusterExtension) {
			e.Spec.Install = noChecks()
			e.Spec.Install.Preflight.CRDUpgradeSafety.Enforcement = "Strict"
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, test.who.Create(t.Context(), extension("a", "", good, test.change), client.DryRunAll), test.refused)
		})
	}
	existing := extension("existing", "", good, annotated("delete-crds", "widgets.example.com"))
	must.NoError(t, w.Create(t.Context(), existing))
	t.Cleanup(func() { _ = w.Delete(context.Background(), existing) })
	forced := &unstructured.Unstructured{}
	forced.SetGroupVersionKind(extensionKind)
	forced.SetName("existing")
	expect(t, member.Patch(t.Context(), forced, client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"SelfCertified"}}}}`)), client.DryRunAll), "SelfCertified")
	annotate := func(annotations string) error {
		return member.Patch(t.Context(), forced.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":`+annotations+`}}`)), client.DryRunAll)
	}
	expect(t, annotate(`{"example.com/note":"beside that of an administrator"}`), "")
	expect(t, annotate(`{"operators.fairlead.dev/delete-crds":"*"}`), "may not use the annotations operators.fairlead.dev/delete-crds")
}

func annotated(key, value string) func(*olmv1.ClusterExtension) {
	return func(e *olmv1.ClusterExtension) {
		e.Annotations = map[string]string{"operators.fairlead.dev/" + key: value}
	}
}

func noChecks() *olmv1.ClusterExtensionInstallConfig {
	return &olmv1.ClusterExtensionInstallConfig{Preflight: &olmv1.PreflightConfig{CRDUpgradeSafety: &olmv1.CRDUpgradeSafetyPreflightConfig{Enforcement: "None"}}}
}
