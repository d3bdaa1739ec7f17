package install

import (
	"fmt"
	"io/fs"
	"maps"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	operatorsv2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (m *migration) installKinds() {
	m.t.Helper()
	must.NoError(m.t, manager.InstallCRDs(m.t.Context(), m.admin))
}

// lay creates an object, with its status, as a field manager.
func (m *migration) lay(o client.Object, by client.FieldOwner) {
	m.t.Helper()
	whole := o.DeepCopyObject().(client.Object)
	must.Eventually(m.t, fmt.Sprintf("lay down %T %s", o, o.GetName()), func() error { return m.Create(m.t.Context(), o, by) })
	switch whole.(type) {
	case *v1alpha1.CatalogSource, *v1alpha1.Subscription, *v1alpha1.InstallPlan, *v1alpha1.ClusterServiceVersion, *operatorsv1.OperatorGroup:
		must.Eventually(m.t, fmt.Sprintf("write the status of %T %s", o, o.GetName()), func() error { // managers of other tests label what they find
			if err := m.Get(m.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			status := whole.DeepCopyObject().(client.Object)
			status.SetResourceVersion(o.GetResourceVersion())
			status.SetUID(o.GetUID())
			err := m.Status().Update(m.t.Context(), status, by)
			o.SetResourceVersion(status.GetResourceVersion())
			return err
		})
	}
}

var managed = map[string]string{"olm.managed": "true"}

func with(labels map[string]string, more ...string) map[string]string {
	out := maps.Clone(labels)
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// leaveCatalog leaves a catalog in a pod, its companions, and what a bundle was unpacked with: its Job is gone after five minutes, the
// ConfigMap stays.
func (m *migration) leaveCatalog() {
	s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "moved"}, Spec: ofImage(m.catalog("1.1.0")), Status: v1alpha1.CatalogSourceStatus{
		RegistryServiceStatus: &v1alpha1.RegistryServiceStatus{Protocol: "grpc", ServiceName: "moved", ServiceNamespace: "olm", Port: "50051", CreatedAt: metav1.Now()},
		GRPCConnectionState:   &v1alpha1.GRPCConnectionState{Address: "moved.olm.svc:50051", LastObservedState: "READY", LastConnectTime: metav1.Now()},
	}}
	m.source = s
	m.lay(s, otherCatalog)
	owner := []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "CatalogSource", Name: s.Name, UID: s.UID, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(false)}}
	selector := with(managed, "olm.catalogSource", "moved")
	meta := func(name string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "olm", Name: name, Labels: labels, OwnerReferences: owner}
	}
	nonRoot, no := ptr.To(true), ptr.To(false)
	for _, o := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta("moved", managed)},
		&corev1.Pod{ObjectMeta: meta("moved-x7k2p", with(selector, "olm.pod-spec-hash", "4kTq")), Spec: corev1.PodSpec{ServiceAccountName: "moved",
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: nonRoot, RunAsUser: ptr.To[int64](1001), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "registry-server", Image: s.Spec.Image, Ports: []corev1.ContainerPort{{Name: "grpc", ContainerPort: 50051}},
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}}}},
		&corev1.Service{ObjectMeta: meta("moved", with(managed, "olm.service-spec-hash", "8hWm")), Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Name: "grpc", Port: 50051}}}},
		&networkingv1.NetworkPolicy{ObjectMeta: meta("moved-grpc-server", selector), Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: selector}}},
		&networkingv1.NetworkPolicy{ObjectMeta: meta("moved-unpack-bundles", selector), Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: managed}}},
		&corev1.ConfigMap{ObjectMeta: meta("3f1c0d6a5e", managed), BinaryData: map[string][]byte{"csv.yaml": []byte("compressed")}},
	} {
		m.lay(o, otherRegistry)
	}
}

// leaveOperator leaves an installed operator: plan, Subscription, ClusterServiceVersion and what that consists of.
func (m *migration) leaveOperator() {
	m.t.Helper()
	files := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.1.0"))(m.t)
	b := must.Value(bundle.Load(files))(m.t)
	component := "operators.coreos.com/greeter-operator." + m.namespace
	component = component[:min(len(component), len("operators.coreos.com/")+63)]
	labels := with(managed, component, "")
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "greeter", Labels: map[string]string{component: ""}},
		Spec: &v1alpha1.SubscriptionSpec{Package: "greeter-operator", Channel: b.Channels[0], CatalogSource: "moved", CatalogSourceNamespace: "olm", InstallPlanApproval: v1alpha1.ApprovalAutomatic}}
	m.lay(sub, otherCatalog)
	reference := `{"kind":"ConfigMap","name":"3f1c0d6a5e","namespace":"olm","catalogSourceName":"moved","catalogSourceNamespace":"olm","replaces":"","properties":"{}"}`
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "install-x8d4q", Labels: labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "Subscription", Name: sub.Name, UID: sub.UID, Controller: ptr.To(false), BlockOwnerDeletion: ptr.To(false)}}},
		Spec: v1alpha1.InstallPlanSpec{Approval: v1alpha1.ApprovalAutomatic, Approved: true, Generation: 1, ClusterServiceVersionNames: []string{b.Name}},
		Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseComplete, CatalogSources: []string{"moved"}, StartTime: ptr.To(metav1.Now()),
			Plan: []*v1alpha1.Step{
				{Resolving: b.Name, Status: v1alpha1.StepStatusCreated, Resource: v1alpha1.StepResource{CatalogSource: "moved", CatalogSourceNamespace: "olm", Group: "operators.coreos.com", Version: "v1alpha1", Kind: "ClusterServiceVersion", Name: b.Name, Manifest: reference}},
				{Resolving: b.Name, Status: v1alpha1.StepStatusCreated, Resource: v1alpha1.StepResource{CatalogSource: "moved", CatalogSourceNamespace: "olm", Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Name: "greetings.demo.fairlead.dev", Manifest: reference}},
			}}}
	m.lay(plan, otherCatalog)
	m.t.Helper()
	sub.Status = v1alpha1.SubscriptionStatus{CurrentCSV: plan.Spec.ClusterServiceVersionNames[0], InstalledCSV: plan.Spec.ClusterServiceVersionNames[0],
		State: v1alpha1.SubscriptionStateAtLatest, InstallPlanGeneration: 1, LastUpdated: metav1.Now(),
		Install:        &v1alpha1.InstallPlanReference{APIVersion: "operators.coreos.com/v1alpha1", Kind: "InstallPlan", Name: plan.Name, UID: plan.UID},
		InstallPlanRef: &corev1.ObjectReference{APIVersion: "operators.coreos.com/v1alpha1", Kind: "InstallPlan", Namespace: plan.Namespace, Name: plan.Name, UID: plan.UID, ResourceVersion: plan.ResourceVersion}}
	must.NoError(m.t, m.Status().Update(m.t.Context(), sub, otherCatalog))
	m.leaveObjects(b, labels)
}

// leaveObjects leaves what the plan has made, the ClusterServiceVersion with its status, and the Deployment.
func (m *migration) leaveObjects(b *bundle.Bundle, labels map[string]string) {
	m.t.Helper()
	steps := must.Value(bundle.Steps(b, bundle.StepTarget{Namespace: m.namespace}))(m.t)
	for _, o := range steps {
		o.SetLabels(with(labels, flatten(o.GetLabels())...))
		switch o.GetKind() {
		case v1alpha1.ClusterServiceVersionKind:
			m.t.Helper()
			csv := &v1alpha1.ClusterServiceVersion{}
			must.NoError(m.t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, csv))
			csv.Annotations = with(csv.Annotations, "olm.operatorGroup", "group", "olm.operatorNamespace", m.namespace, "olm.targetNamespaces", m.namespace)
			csv.Finalizers = []string{"operators.coreos.com/csv-cleanup"}
			now := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
			csv.Status = v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded, Reason: v1alpha1.CSVReasonInstallSuccessful,
				Message: "install strategy completed with no errors", LastUpdateTime: &now, LastTransitionTime: &now}
			m.csv = csv
			m.lay(csv, otherOLM)
			continue
		case "CustomResourceDefinition":
			m.crd = client.ObjectKeyFromObject(o)
			o.SetAnnotations(map[string]string{"operatorframework.io/installed-alongside-7d3a0c9f1b2e4d5f": m.namespace + "/" + b.Name})
			must.NoError(m.t, ignoreExists(m.Create(m.t.Context(), o, otherCatalog)))
			continue
		}
		references := o.GetOwnerReferences()
		for i := range references {
			references[i].UID = m.csv.UID
		}
		o.SetOwnerReferences(references)
		m.lay(o, otherCatalog)
	}
	m.leaveDeployment()
	// Leave the OperatorCondition of the operator, and what lets its service account write it.
	strategy := m.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0]
	account := strategy.Spec.Template.Spec.ServiceAccountName
	meta := func(version, kind, name string, o metav1.Object) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: m.namespace, Name: name, Labels: managed, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: version, Kind: kind, Name: o.GetName(), UID: o.GetUID(), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}}
	}
	condition := &operatorsv2.OperatorCondition{ObjectMeta: meta("operators.coreos.com/v1alpha1", "ClusterServiceVersion", m.csv.Name, m.csv),
		Spec: operatorsv2.OperatorConditionSpec{ServiceAccounts: []string{account}, Deployments: []string{strategy.Name}}}
	m.lay(condition, otherOLM)
	role := &rbacv1.Role{ObjectMeta: meta("operators.coreos.com/v2", "OperatorCondition", m.csv.Name, condition), Rules: []rbacv1.PolicyRule{{
		Verbs: []string{"get", "update", "patch"}, APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorconditions"}, ResourceNames: []string{condition.Name}}}}
	m.lay(role, otherOLM)
	m.lay(&rbacv1.RoleBinding{ObjectMeta: meta("operators.coreos.com/v2", "OperatorCondition", m.csv.Name, condition),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: m.namespace, Name: account}}}, otherOLM)
}

func flatten(labels map[string]string) (pairs []string) {
	for key, value := range labels {
		pairs = append(pairs, key, value)
	}
	return pairs
}

// leaveDeployment leaves the Deployment as the other manager makes it of the strategy: its labels, all annotations of the
// ClusterServiceVersion on its pods, a variable, and one old ReplicaSet.
func (m *migration) leaveDeployment() {
	m.t.Helper()
	strategy := m.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0]
	spec := *strategy.Spec.DeepCopy()
	spec.RevisionHistoryLimit = ptr.To[int32](1)
	spec.Template.Annotations = maps.Clone(m.csv.Annotations)
	for i := range spec.Template.Spec.Containers {
		c := &spec.Template.Spec.Containers[i]
		c.Env = append(c.Env, corev1.EnvVar{Name: "OPERATOR_CONDITION_NAME", Value: m.csv.Name})
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: strategy.Name,
		Labels: with(strategy.Label, "olm.managed", "true", "olm.owner", m.csv.Name, "olm.owner.namespace", m.namespace, "olm.owner.kind", "ClusterServiceVersion", "olm.deployment-spec-hash", "dXhKs0Zq"),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: m.csv.Name, UID: m.csv.UID,
			Controller: ptr.To(false), BlockOwnerDeletion: ptr.To(false)}}}, Spec: spec}
	m.lay(d, otherOLM)
	m.deploymentRuns(m.namespace, d.Name)
}
