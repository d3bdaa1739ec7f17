package grpccatalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestASpecChangeKeepsServing: the earlier pod answers until the new one does.
func TestASpecChangeKeepsServing(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	old := c.ensure().Serving
	c.become(old.Name, ready(true), runsImage(digestOne))
	c.source.Spec.Image = "registry.example.com/catalog:v2"
	out := c.ensure()
	if !out.Ready || out.Serving.Name != old.Name || len(c.livePods()) != 2 || out.Digest != digestOne {
		t.Fatalf("served by %s, ready %t, %q", out.Serving.Name, out.Ready, out.Changes)
	}
	c.quiet()
	var fresh string
	for _, p := range c.livePods() {
		if p.Name != old.Name {
			fresh = p.Name
		}
	}
	c.become(fresh, ready(true), runsImage(digestTwo))
	if out = c.ensure(); out.Serving.Name != fresh || len(c.livePods()) != 1 || out.Digest != digestTwo {
		t.Errorf("served by %s, %d pods, %q", out.Serving.Name, len(c.livePods()), out.Changes)
	}
	c.quiet()
}

// TestAnUpdateIsPromoted goes through a poll that finds a newer image.
func TestAnUpdateIsPromoted(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	old := c.ensure().Serving
	c.become(old.Name, ready(true), runsImage(digestOne))
	r := c.request()
	r.PollDue, r.RegistryDigest = true, digestTwo
	out, err := c.Ensure(t.Context(), r)
	if err != nil || !out.Polled || out.Again != UpdateWait || len(out.Actions) != 1 || len(c.livePods()) != 2 {
		t.Fatalf("the poll: %v, polled %t, again in %s, %q", err, out.Polled, out.Again, out.Changes)
	}
	fresh := out.Actions[0].Pod
	if c.get(old, old.Name); old.Annotations[RegistryDigestAnnotation] != "" || fresh.Annotations[RegistryDigestAnnotation] != digestTwo {
		t.Errorf("what was found newer is said of the old pod (%v), or not of the new one (%v)", old.Annotations, fresh.Annotations)
	}
	if fresh.Labels[v1alpha1.CatalogSourceLabel] != "" || fresh.Labels[v1alpha1.CatalogSourceUpdateLabel] != "operators" {
		t.Errorf("the pod of the update is labelled %v", fresh.Labels)
	}
	c.quiet()
	c.become(fresh.Name, ready(true), runsImage(digestTwo))
	if out = c.ensure(); out.Serving.Name != fresh.Name || !out.Ready || out.Digest != digestTwo {
		t.Errorf("served by %s, ready %t, %s", out.Serving.Name, out.Ready, out.Digest)
	}
	p := &corev1.Pod{}
	c.get(p, fresh.Name)
	if p.Labels[v1alpha1.CatalogSourceLabel] != "operators" || p.Labels[v1alpha1.CatalogSourceUpdateLabel] != "" || len(c.livePods()) != 2 || out.Again <= 0 || out.Again > handOver {
		t.Errorf("labels %v, %d pods, again in %s: nodes send clients to the old pod until they hear of the new one", p.Labels, len(c.livePods()), out.Again)
	}
	if out = c.ensure(); len(out.Changes) != 0 || out.Again <= 0 {
		t.Errorf("while it is handed over: %q, again in %s", out.Changes, out.Again)
	}
	r = c.request()
	r.Now = r.Now.Add(2 * handOver)
	if out = must.Value(c.Ensure(t.Context(), r))(t); out.Serving.Name != fresh.Name || len(c.livePods()) != 1 || out.Again != 0 {
		t.Errorf("after that it is served by %s, %d pods, again in %s", out.Serving.Name, len(c.livePods()), out.Again)
	}
	c.quiet()
	r.PollDue, r.RegistryDigest = true, digestTwo
	if out, err = c.Ensure(t.Context(), r); err != nil || !out.Polled || len(out.Changes) > 0 {
		t.Errorf("the next poll, without news: %v, %q", err, out.Changes)
	}
}

// TestAnUpdateWithoutNews is of a runtime that reports another digest than the registry: the image is run once, and not again.
func TestAnUpdateWithoutNews(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	serving := c.ensure().Serving
	c.become(serving.Name, ready(true), runsImage(digestOne))
	r := c.request()
	r.PollDue, r.RegistryDigest = true, digestTwo
	out, err := c.Ensure(t.Context(), r)
	if err != nil || len(out.Actions) != 1 {
		t.Fatalf("the poll: %v, polled %t, again in %s, %q", err, out.Polled, out.Again, out.Changes)
	}
	c.become(out.Actions[0].Pod.Name, ready(true), runsImage(digestOne))
	if out = c.ensure(); out.Serving.Name != serving.Name || len(c.livePods()) != 1 {
		t.Errorf("served by %s, %q", out.Serving.Name, out.Changes)
	}
	before := c.writes.Load()
	if out, err = c.Ensure(t.Context(), r); err != nil || !out.Polled || c.writes.Load() != before {
		t.Errorf("the next poll: %v, %q", err, out.Changes)
	}
}

// TestAnEditedImageIsReplaced: the API server counts the change of a pod's spec.
func TestAnEditedImageIsReplaced(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	p := c.ensure().Serving
	edit := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"registry-server","image":"evil.example.com/catalog:v1"}]}}`))
	must.NoError(t, c.Client.Patch(t.Context(), p.DeepCopy(), edit))
	out := c.ensure()
	if pods := c.livePods(); len(pods) != 1 || pods[0].Name == p.Name || pods[0].Spec.Containers[0].Image != c.source.Spec.Image {
		t.Errorf("%d pods, %q", len(pods), out.Changes)
	}
}

// TestModesChange goes from an image to no pod at all, and back.
func TestModesChange(t *testing.T) {
	c := newCluster(t, "operators")
	c.settled()
	changes, err := c.Remove(t.Context(), c.source)
	must.NoErrorf(t, err, "removed")
	must.Equal(t, "removed", len(changes), 5)
	if n := len(c.livePods()); n > 0 {
		t.Errorf("%d pods are left", n)
	}
	before := c.writes.Load()
	if changes, err = c.Remove(t.Context(), c.source); err != nil || len(changes) > 0 || c.writes.Load() != before {
		t.Errorf("removed again: %v, %q", err, changes)
	}
	c.source.Spec = grpcSource().Spec
	c.settled()
	c.quiet()
}

// TestWhatAnotherImplementationRanForAConfigMapGoes: the manager serves such catalogs itself.
func TestWhatAnotherImplementationRanForAConfigMapGoes(t *testing.T) {
	c := newCluster(t, "operators")
	c.source.Spec = v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeConfigmap, ConfigMap: "content"}
	of := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: c.source.Namespace, Name: name, Labels: selector(c.source), OwnerReferences: []metav1.OwnerReference{owner(c.source, false)}}
	}
	service := &corev1.Service{ObjectMeta: of("operators"), Spec: corev1.ServiceSpec{Selector: selector(c.source), Ports: []corev1.ServicePort{{Name: "grpc", Port: 50051}}}}
	service.Labels[v1alpha1.ServiceSpecHashLabel] = "a"
	left := []client.Object{
		&corev1.Pod{ObjectMeta: of("operators-abcde"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "configmap-registry-server", Image: "registry.example.com/server:v1"}}}},
		&corev1.ServiceAccount{ObjectMeta: of("operators-configmap-server")},
		&rbacv1.Role{ObjectMeta: of("operators-configmap-reader")},
		&rbacv1.RoleBinding{ObjectMeta: of("operators-server-configmap-reader"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operators-configmap-reader"}},
		&networkingv1.NetworkPolicy{ObjectMeta: of("operators-grpc-server")},
		&networkingv1.NetworkPolicy{ObjectMeta: of("operators-unpack-bundles")},
		service,
	}
	for _, o := range left {
		must.NoError(t, c.Create(t.Context(), o))
	}
	must.Equal(t, "removed", len(must.Value(c.Remove(t.Context(), c.source))(t)), len(left))
	for _, o := range left {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err == nil && o.GetDeletionTimestamp() == nil {
			t.Errorf("%T %s is left", o, o.GetName())
		}
	}
}

// TestTheManagerServedItBefore: the Service led to the manager, which goes on answering until the pod does; and when the catalog
// changes back, what the manager wrote stays.
func TestTheManagerServedItBefore(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	inProcess := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.source.Namespace, Name: "operators", Labels: managed(), OwnerReferences: []metav1.OwnerReference{owner(c.source, false)}},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Name: "grpc", Protocol: corev1.ProtocolTCP, Port: 50051, TargetPort: intstr.FromInt32(7000)}},
		},
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: c.source.Namespace, Name: "operators-manager", Labels: managed(), OwnerReferences: inProcess.OwnerReferences},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.2.3"}}},
	}
	slice.Labels[discoveryv1.LabelServiceName], slice.Labels[discoveryv1.LabelManagedBy] = "operators", "fairlead.dev"
	must.NoError(t, errors.Join(c.Create(t.Context(), inProcess, client.FieldOwner("fairlead-test")), c.Create(t.Context(), slice)))
	if _, err := c.Remove(t.Context(), c.source); err != nil || c.writes.Load() > 0 {
		t.Errorf("there was no pod, and something was removed (%v)", err)
	}
	out := c.ensure()
	c.get(slice, slice.Name)
	live := &corev1.Service{}
	c.get(live, "operators")
	if live.UID != inProcess.UID || live.Spec.Ports[0].TargetPort.IntValue() != Port || live.Spec.Selector[v1alpha1.CatalogSourceLabel] != "operators" {
		t.Errorf("the Service is %+v", live.Spec)
	}
	c.become(out.Serving.Name, ready(true), runsImage(digestOne))
	if out = c.ensure(); len(out.Changes) != 1 || !strings.Contains(out.Changes[0], "delete EndpointSlice "+c.source.Namespace+"/operators-manager") {
		t.Errorf("once the pod answers: %q", out.Changes)
	}
	c.quiet()
	must.Equal(t, "removed", len(must.Value(c.Remove(t.Context(), c.source))(t)), 5)
}

// TestTheManagerServesItAgain: the Service that led to the pod leads to the manager now, and no longer to the pod.
func TestTheManagerServesItAgain(t *testing.T) {
	c := newCluster(t, "operators")
	c.settled()
	ofService := func() (names []string) {
		var list discoveryv1.EndpointSliceList
		must.NoError(t, c.List(t.Context(), &list, client.InNamespace(c.source.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: "operators"}))
		for _, s := range list.Items {
			names = append(names, fmt.Sprintf("%s with %d addresses", s.Labels[discoveryv1.LabelManagedBy], len(s.Endpoints)))
		}
		return names
	}
	c.eventually("wait for the Service to lead to the pod", func() error {
		if got := ofService(); !slices.Equal(got, []string{fromPods[0] + " with 1 addresses"}) {
			return fmt.Errorf("EndpointSlices %q", got)
		}
		return nil
	})
	c.eventually("let the Service select nothing", func() error {
		service := &corev1.Service{}
		c.get(service, "operators")
		service.Spec.Selector, service.Labels = nil, managed()
		return c.Client.Update(t.Context(), service)
	})
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: c.source.Namespace, Name: "operators-manager", Labels: managed(), OwnerReferences: []metav1.OwnerReference{owner(c.source, false)}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.2.3"}}},
	}
	slice.Labels[discoveryv1.LabelServiceName], slice.Labels[discoveryv1.LabelManagedBy] = "operators", "fairlead.dev"
	must.NoError(t, c.Create(t.Context(), slice))
	must.Value(c.Remove(t.Context(), c.source, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "operators"}}))(t)
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if got := ofService(); !slices.Equal(got, []string{"fairlead.dev with 1 addresses"}) {
			t.Fatalf("EndpointSlices %q", got)
		}
	}
	c.get(&corev1.Service{}, "operators")
}

// TestAPreparedServiceAccountIsUsed as it is, with its pull secrets, and left when the catalog goes.
func TestAPreparedServiceAccountIsUsed(t *testing.T) {
	c := newCluster(t, "operators")
	account := &corev1.ServiceAccount{
		ObjectMeta:       metav1.ObjectMeta{Namespace: c.source.Namespace, Name: "operators"},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "prepared"}},
	}
	must.NoError(t, c.Create(t.Context(), account))
	c.source.Spec.Secrets = []string{"mine"}
	out := c.settled()
	want := []corev1.LocalObjectReference{{Name: "mine"}, {Name: "prepared"}}
	must.Equal(t, "pull secrets", out.Serving.Spec.ImagePullSecrets, want)
	c.quiet()
	must.Value(c.Remove(t.Context(), c.source))(t)
	live := &corev1.ServiceAccount{}
	c.get(live, "operators")
	must.Equal(t, "the ServiceAccount was changed", live.ResourceVersion, account.ResourceVersion)
}

// TestPullSecretsChange: those of the catalog follow its spec, those of others stay.
func TestPullSecretsChange(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	c.source.Spec.Secrets = []string{"one"}
	c.ensure()
	account := &corev1.ServiceAccount{}
	c.get(account, "operators")
	account.ImagePullSecrets = append(account.ImagePullSecrets, corev1.LocalObjectReference{Name: "of-others"})
	must.NoError(t, c.Client.Update(t.Context(), account, client.FieldOwner("registry-controller")))
	c.source.Spec.Secrets = []string{"two"}
	out := c.ensure()
	want := []corev1.LocalObjectReference{{Name: "two"}, {Name: "of-others"}}
	c.get(account, "operators")
	if !slices.Equal(account.ImagePullSecrets, want) || !slices.Equal(out.Serving.Spec.ImagePullSecrets, want) {
		t.Errorf("pull secrets of the account %v, of the pod %v, want %v", account.ImagePullSecrets, out.Serving.Spec.ImagePullSecrets, want)
	}
	c.quiet()
}

func TestAServiceOfOthersIsNotTakenOver(t *testing.T) {
	c := newCluster(t, "a.b")
	foreign := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.source.Namespace, Name: "a-b"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
	}
	must.NoError(t, c.Create(t.Context(), foreign))
	_, err := c.Ensure(t.Context(), c.request())
	var collision *rollout.CollisionError
	if !errors.As(err, &collision) || !strings.Contains(err.Error(), "a-b is wanted by CatalogSource a.b but exists already") {
		t.Errorf("error %v", err)
	}
	if c.writes.Load() > 0 {
		t.Errorf("%d writes were made all the same", c.writes.Load())
	}
}

// TestWhatAnEarlierCatalogLeftIsWaitedFor: a catalog that is deleted and made again finds the objects of the former one.
func TestWhatAnEarlierCatalogLeftIsWaitedFor(t *testing.T) {
	c := newCluster(t, "operators")
	c.ensure()
	again := c.source.DeepCopy()
	again.UID = "another"
	out, err := c.Ensure(t.Context(), Request{Source: again})
	if err != nil || out.Again != collectionWait || !strings.Contains(out.Waiting, "belongs to an earlier CatalogSource operators") || len(out.Changes) > 0 {
		t.Errorf("%v, waiting for %q, again in %s, %q", err, out.Waiting, out.Again, out.Changes)
	}
}

// TestTheSameObjectOfAnEarlierCatalogIsNamed: the objects are judged at once, in any order. Each other one named would be a write of the status.
func TestTheSameObjectOfAnEarlierCatalogIsNamed(t *testing.T) {
	again := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "operators", UID: "another"}}
	live := func(kind, name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		u.SetNamespace(again.Namespace)
		u.SetName(name)
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: kindCatalogSource, Name: again.Name, UID: "earlier"}})
		return u
	}
	objects := []*unstructured.Unstructured{live("Service", "operators"), live("ServiceAccount", "operators"), live("Pod", "operators-x")}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		c := &claim{source: again}
		for _, i := range order {
			if reason := c.on(objects[i]); reason == "" {
				t.Errorf("%s of an earlier catalog is taken over", objects[i].GetName())
			}
		}
		if !strings.HasPrefix(c.earlier, "Pod olm/operators-x ") {
			t.Errorf("judged in the order %v, %q is named", order, c.earlier)
		}
	}
}

// TestPodSecurity: the profile follows the namespace; one that it does not admit is refused in the cluster's words.
func TestPodSecurity(t *testing.T) {
	c := newCluster(t, "operators")
	namespace := &corev1.Namespace{}
	must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: c.source.Namespace}, namespace))
	namespace.Labels[v1alpha1.PodSecurityEnforceLabel] = "restricted"
	must.NoError(t, c.Client.Update(t.Context(), namespace))
	c.source.Spec.GrpcPodConfig = &v1alpha1.GrpcPodConfig{SecurityContextConfig: v1alpha1.Legacy}
	_, err := c.Ensure(t.Context(), c.request())
	must.Fail(t, "Ensure", err, "violates PodSecurity")
	c.Keeper.Settings.RunAsUser = 1001
	c.source.Spec.GrpcPodConfig = nil
	c.settled()
	c.source.Spec.GrpcPodConfig = &v1alpha1.GrpcPodConfig{SecurityContextConfig: v1alpha1.Restricted, ExtractContent: &v1alpha1.ExtractContentConfig{CatalogDir: "/configs"}}
	c.settled()
}

// TestOtherPullSecretsAreTriedAtOnce by another pod: a node pauses for minutes before it asks for the image again.
func TestOtherPullSecretsAreTriedAtOnce(t *testing.T) {
	c := newCluster(t, "operators")
	c.unscheduled()
	first := c.ensure().Serving.Name
	c.become(first, waits("ImagePullBackOff", "pull access denied"))
	c.quiet()
	r := c.request()
	r.PullAgain = true
	out, err := c.Ensure(t.Context(), r)
	pods := c.livePods()
	if err != nil || len(pods) != 1 || pods[0].Name == first || out.Serving == nil || out.Serving.Name != pods[0].Name {
		t.Fatalf("%v, %d pods, %q", err, len(pods), out.Changes)
	}
	c.become(pods[0].Name, ready(true), runsImage(digestOne))
	if out, err = c.Ensure(t.Context(), r); err != nil || len(out.Changes) > 0 || c.livePods()[0].Name != pods[0].Name {
		t.Errorf("a pod that has its image: %v, %q", err, out.Changes)
	}
}
