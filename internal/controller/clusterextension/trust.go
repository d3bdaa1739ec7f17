package clusterextension

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/rollout/serving"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// authorities are the CA bundles of clients of Services, by the names of the Services.
type authorities map[string][]byte

// digest identifies them; it is empty when there are none.
func (a authorities) digest() string {
	if len(a) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintf(sum, "%q %q\n", name, a[name])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// trust makes the certificates that new content needs, and makes its objects trust them.
func (c *certificates) trust(ctx context.Context, s *state, made *content) error {
	found, k := authorities{}, c.keeper(s)
	for _, need := range made.serving {
		one, err := k.ensure(ctx, need)
		if err != nil {
			return err
		}
		found[need.Service] = one.Trusted(c.Clock.Now())
	}
	made.authorities, made.objects = found.digest(), serving.Inject(made.objects, s.ext.Spec.Namespace, found)
	return nil
}

func servingLabels(extension string) map[string]string {
	return map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(extension), servingLabel: "true"}
}

// claim makes a Secret one of the extension, and reports whether it was not before.
func claim(secret *corev1.Secret, ext *olmv1.ClusterExtension) bool {
	if revision.Owns(ext, secret) && labels.SelectorFromSet(servingLabels(ext.Name)).Matches(labels.Set(secret.Labels)) {
		return false
	}
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	maps.Copy(secret.Labels, servingLabels(ext.Name))
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(ext, olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind))}
	return true
}

// young is the age up to which a Secret is not taken for one that nothing needs: what needs it may be about to be written.
const young = 10 * time.Minute

// dropCertificates deletes those Secrets of an extension that are not needed, and that have been there for a while. Those of an extension that
// is deleted would be collected as garbage, too, but that may take its time.
func (c *certificates) drop(ctx context.Context, from client.Reader, ext *olmv1.ClusterExtension, needed []registryv1.Serving) error {
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := from.List(ctx, all, client.InNamespace(ext.Spec.Namespace), client.MatchingLabels(servingLabels(ext.Name))); err != nil {
		return fmt.Errorf("list the serving certificates of ClusterExtension %s: %w", ext.Name, err)
	}
	for i := range all.Items {
		one := &all.Items[i]
		if ext.DeletionTimestamp.IsZero() && one.CreationTimestamp.Add(young).After(c.Clock.Now()) {
			continue
		}
		if slices.ContainsFunc(needed, func(s registryv1.Serving) bool { return s.Secret == one.Name }) {
			continue
		}
		one.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		if err := client.IgnoreNotFound(c.client.Delete(ctx, one, client.Preconditions{UID: &one.UID})); err != nil {
			return fmt.Errorf("delete Secret %s/%s with a serving certificate of ClusterExtension %s: %w", one.Namespace, one.Name, ext.Name, err)
		}
	}
	return nil
}
