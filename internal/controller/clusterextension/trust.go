package clusterextension

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// trustedBy reports whether the objects of a revision trust exactly these.
func (a authorities) trustedBy(r *olmv1.ClusterObjectSet) bool {
	return r == nil || r.Annotations[authoritiesKey] == a.digest()
}

// trust makes the certificates that new content needs, and makes its objects trust them.
func (c *Controller) trust(ctx context.Context, s *state, made *content) error {
	found := authorities{}
	for _, need := range made.serving {
		one, err := c.ensure(ctx, s, need)
		if err != nil {
			return err
		}
		found[need.Service] = one.Trusted(c.Clock.Now())
	}
	made.authorities, made.objects = found.digest(), found.trusting(made.objects, s.ext.Spec.Namespace)
	return nil
}

// spread makes a revision that repeats the newest one, of the same bundle, configuration and account, and trusts other authorities. It passes
// no gate: it installs nothing that is not there.
func (c *Controller) spread(ctx context.Context, s *state, newest *olmv1.ClusterObjectSet, found authorities, o *outcome) error {
	objects, err := revision.Objects(ctx, c.client, newest)
	if err != nil {
		return fmt.Errorf("read revision %s, to let its objects trust other certificates: %w", newest.Name, err)
	}
	notes := maps.Clone(newest.Annotations)
	delete(notes, revision.DigestKey)
	delete(notes, revision.ServiceAccountKey)
	notes[authoritiesKey] = found.digest()
	if s.ext.Annotations[RollbackToKey] != "" && notes[copyKey] == "" {
		notes[copyKey] = newest.Name
	}
	_, account, _ := strings.Cut(newest.Annotations[revision.ServiceAccountKey], "/")
	return c.write(ctx, s, revision.Options{Objects: found.trusting(objects, s.ext.Spec.Namespace), Annotations: notes, ServiceAccount: account,
		ProgressDeadlineMinutes: newest.Spec.ProgressDeadlineMinutes}, o)
}

// trusting are objects that trust the authorities of the Services of a namespace that they lead to: webhook configurations, CRDs with a conversion
// webhook, and APIServices. Others, and those that lead elsewhere, are returned as they are; nothing is changed in place.
func (a authorities) trusting(objects []*unstructured.Unstructured, namespace string) []*unstructured.Unstructured {
	out := slices.Clone(objects)
	for service, bundle := range a {
		for i, u := range out {
			if len(clientConfigs(u, namespace, service)) == 0 {
				continue
			}
			out[i] = u.DeepCopy()
			for _, config := range clientConfigs(out[i], namespace, service) {
				config["caBundle"] = base64.StdEncoding.EncodeToString(bundle)
			}
		}
	}
	return out
}

// clientConfigs are the parts of an object that lead to a Service and have a CA bundle for it.
func clientConfigs(u *unstructured.Unstructured, namespace, service string) []map[string]any {
	var all []any
	spec, _ := u.Object["spec"].(map[string]any)
	switch u.GroupVersionKind().Group {
	case "apiregistration.k8s.io":
		all = append(all, spec)
	case "admissionregistration.k8s.io":
		hooks, _ := u.Object["webhooks"].([]any)
		for _, hook := range hooks {
			if h, ok := hook.(map[string]any); ok {
				all = append(all, h["clientConfig"])
			}
		}
	case "apiextensions.k8s.io":
		config, _, _ := unstructured.NestedFieldNoCopy(spec, "conversion", "webhook", "clientConfig")
		all = append(all, config)
	}
	var out []map[string]any
	for _, one := range all {
		config, _ := one.(map[string]any)
		to, _ := config["service"].(map[string]any)
		if to != nil && to["namespace"] == namespace && to["name"] == service {
			out = append(out, config)
		}
	}
	return out
}
