package clusterserviceversion

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/blang/semver/v4"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/randfill"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
)

// words are few, so that what is made of them often refers to something that exists.
var words = []string{
	"", "manager", "account", "op.v1", "op.v0", "things.example.com", "v1.things.example.com", "v1", "Thing", "things", "deployment", ns, "other",
	"OwnNamespace", "AllNamespaces", "Pending", "Installing", "Succeeded", "Failed", "Replacing", "Deleting", "InstallComponentFailedNoRetry",
	"InstallCheckFailed", "NoOperatorGroup", "ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook", "1.2.3", "*", "/x", "TechPreviewUnsafeFailForward",
}

// filler fills objects with what a cluster would admit, and with less.
func filler(seed int64) *randfill.Filler {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	word := func() string { return words[random.IntN(len(words))] }
	return randfill.NewWithSeed(seed).NilChance(0.5).NumElements(0, 3).MaxDepth(14).Funcs(
		func(s *string, _ randfill.Continue) { *s = word() },
		func(p *phase, _ randfill.Continue) { *p = phase(word()) },
		func(r *reason, _ randfill.Continue) { *r = reason(word()) },
		func(m *v1alpha1.InstallModeType, _ randfill.Continue) { *m = v1alpha1.InstallModeType(word()) },
		func(w *v1alpha1.WebhookAdmissionType, _ randfill.Continue) {
			*w = v1alpha1.WebhookAdmissionType(word())
		},
		func(u *v1.UpgradeStrategy, _ randfill.Continue) { *u = v1.UpgradeStrategy(word()) },
		func(q *resource.Quantity, _ randfill.Continue) { *q = resource.MustParse("1") },
		func(i *intstr.IntOrString, _ randfill.Continue) { *i = intstr.FromString(word()) },
		func(r *json.RawMessage, _ randfill.Continue) { *r = json.RawMessage("{}") },
		func(j *apiextensionsv1.JSON, _ randfill.Continue) { j.Raw = []byte("{}") },
		func(v *semver.Version, _ randfill.Continue) { *v = semver.Version{Major: 1} },
		func(v *v1alpha1.OperatorRelease, _ randfill.Continue) { *v = v1alpha1.OperatorRelease{} },
		func(t *metav1.Time, _ randfill.Continue) { *t = metav1.NewTime(time.Unix(1893553445, 0)) },
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			c.Fill(&m.Labels)
			c.Fill(&m.Annotations)
			c.Fill(&m.OwnerReferences)
		},
		func(m *metav1.TypeMeta, _ randfill.Continue) {},
		func(s *v1alpha1.StrategyDetailsDeployment, c randfill.Continue) {
			c.FillNoCustom(s)
			if c.Bool() {
				s.DeploymentSpecs = append(s.DeploymentSpecs, newStrategy("manager"))
			}
		},
		func(s *v1alpha1.NamedInstallStrategy, c randfill.Continue) {
			c.FillNoCustom(s)
			s.StrategyName = mostly(random, "deployment", word())
		},
		func(s *v1alpha1.ClusterServiceVersionSpec, c randfill.Continue) {
			c.FillNoCustom(s)
			s.InstallModes = mostly(random, newCSV("").Spec.InstallModes, s.InstallModes)
			s.MinKubeVersion = mostly(random, "", s.MinKubeVersion)
		},
		func(d *v1alpha1.CRDDescription, c randfill.Continue) {
			c.FillNoCustom(d)
			d.Name, d.Version = mostly(random, "things.example.com", d.Name), mostly(random, "v1", d.Version)
		},
		func(d *v1alpha1.APIServiceDescription, c randfill.Continue) {
			c.FillNoCustom(d)
			d.DeploymentName = mostly(random, "manager", d.DeploymentName)
		},
		func(d *v1alpha1.WebhookDescription, c randfill.Continue) {
			c.FillNoCustom(d)
			d.DeploymentName, d.Type = mostly(random, "manager", d.DeploymentName), mostly(random, v1alpha1.MutatingAdmissionWebhook, d.Type)
		},
		func(r *rbacv1.PolicyRule, c randfill.Continue) {
			c.FillNoCustom(r)
			r.Verbs, r.NonResourceURLs = append(r.Verbs, "get"), mostly(random, nil, r.NonResourceURLs)
		},
	)
}

// mostly is usually the one and sometimes the other.
func mostly[T any](random *rand.Rand, usual, rare T) T {
	if random.IntN(5) > 0 {
		return usual
	}
	return rare
}

// FuzzReconcile makes passes over random partial objects: nothing panics, a phase always has a reason and a message,
// and what does not fail comes to rest.
func FuzzReconcile(f *testing.F) {
	for seed := range int64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		k := randomCluster(t, filler(seed), rand.New(rand.NewPCG(uint64(seed), 1)))
		k.installPermissions("op.v1")
		var failure error
		for range 6 {
			k.wrote()
			k.c.writtenAt.Clear()
			_, failure = k.reconcile("op.v1")
			_, _ = k.reconcile("op.v0")
			k.rollOut()
		}
		csv := k.csv("op.v1")
		if csv == nil || csv.IsCopied() {
			return
		}
		if s := csv.Status; s.Phase == toNone || csv.DeletionTimestamp.IsZero() && (s.Reason == "" || s.Message == "") {
			t.Errorf("phase %q has reason %q and message %q (%v)", s.Phase, s.Reason, s.Message, failure)
		}
		if failure == nil && slices.Contains(k.api.Writes(), statusWrite) {
			t.Errorf("the status does not come to rest: %s/%s %q, %v", csv.Status.Phase, csv.Status.Reason, csv.Status.Message, history(csv))
		}
	})
}

func randomCluster(t *testing.T, fill *randfill.Filler, random *rand.Rand) *cluster {
	csv, old := newCSV("op.v1"), newCSV("op.v0")
	crd, service := newCRD("things.example.com", "v1"), &apiregistrationv1.APIService{}
	group, subscription := newGroup(ns), &v1alpha1.Subscription{}
	if random.IntN(2) == 0 {
		group = newGroup("")
	}
	if random.IntN(4) > 0 {
		fill.Fill(&csv.Spec)
	}
	fill.Fill(&csv.Status)
	fill.Fill(&csv.ObjectMeta)
	fill.Fill(&old.Spec)
	fill.Fill(&old.Status)
	fill.Fill(subscription)
	fill.Fill(service)
	fill.Fill(&crd.ObjectMeta)
	if random.IntN(2) == 0 {
		fill.Fill(&crd.Spec)
		fill.Fill(&crd.Status)
	}
	if random.IntN(8) == 0 {
		fill.Fill(&group.Spec)
		fill.Fill(&group.Status)
	}
	condition := &v2.OperatorCondition{}
	fill.Fill(&condition.Spec)
	fill.Fill(&condition.Status)
	condition.Namespace, condition.Name = ns, mostly(random, csv.Spec.Replaces, "op.v0")
	if condition.Name == "" {
		condition.Name = "op.v0"
	}
	if random.IntN(8) == 0 {
		csv.DeletionTimestamp, csv.Finalizers = &metav1.Time{Time: time.Unix(1893553445, 0)}, []string{v1alpha1.CSVCleanupFinalizer}
	}
	if crd.Spec.Group == "" {
		crd.Spec.Group, crd.Spec.Names.Kind = "example.com", "Thing"
	}
	subscription.Namespace, subscription.Name, service.Name = ns, "sub", apiService
	objects := []object{csv, old, crd, service, group, subscription, condition}
	return newCluster(t, slices.DeleteFunc(objects, func(o object) bool { return o != object(csv) && random.IntN(8) == 0 })...)
}

// installPermissions makes what an InstallPlan would, as far as it can be made.
func (k *cluster) installPermissions(name string) {
	csv := k.csv(name)
	if csv == nil {
		return
	}
	for _, o := range permissions(k.t, csv) {
		_ = k.client.Create(k.t.Context(), o)
	}
}
