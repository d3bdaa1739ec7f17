package clusterextension

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/preflight/permissions"
	"fairlead.dev/fairlead/internal/preflight/permissions/live"
	"fairlead.dev/fairlead/internal/revision"
	"fairlead.dev/fairlead/version"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// permissionProblem is one that a change of roles and bindings may end.
type permissionProblem struct{ error }

// checkPermissions refuses what the service account of the extension may not do, and upgrades that ask for more than was asked for before.
func (c *Controller) checkPermissions(ctx context.Context, s *state, made *content) error {
	if err := c.lacking(ctx, s.ext, made.objects); err != nil {
		return permissionProblem{err}
	}
	if made.repeated {
		return nil
	}
	return c.increase(ctx, s, made)
}

// lacking is what the service account lacks.
func (c *Controller) lacking(ctx context.Context, ext *olmv1.ClusterExtension, objects []*unstructured.Unstructured) error {
	name := accountOf(ext)
	if name == "" {
		return nil
	}
	account := &metav1.PartialObjectMetadata{}
	account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: ext.Spec.Namespace, Name: name}, account); err != nil {
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("service account %q not found in namespace %q: create it, or take spec.serviceAccount away to install as the manager", name, ext.Spec.Namespace)
		}
		return fmt.Errorf("read ServiceAccount %s/%s: %w", ext.Spec.Namespace, name, err)
	}
	rules, err := live.Read(ctx, c.client, c.client.RESTMapper(), objects)
	if err != nil {
		return err
	}
	subject := permissions.ServiceAccount(ext.Spec.Namespace, name)
	missing, err := permissions.Missing(subject, rules, objects)
	var incomplete *permissions.IncompleteError
	if err != nil && !errors.As(err, &incomplete) {
		return err
	}
	if len(missing) == 0 {
		return nil // what could not be told is refused when it is written, if it is
	}
	return errors.New(permissions.Message(missing, err))
}

// increase is what another content than the installed one asks for in addition, unless somebody has agreed to that: by the exact version, or
// by the annotation.
func (c *Controller) increase(ctx context.Context, s *state, made *content) error {
	installed := s.revisions.installed()
	if installed == nil || made.isOf(installed) || s.ext.Annotations[permissions.AcknowledgedKey] == acknowledgedAll || isExact(s.ext) {
		return nil
	}
	before, err := revision.Objects(ctx, c.client, installed)
	if err != nil {
		return fmt.Errorf("read what is installed, to see whether %s asks for more permissions: %w", made.name, err)
	}
	more := permissions.Compare(before, made.objects)
	if more.Empty() || s.ext.Annotations[permissions.AcknowledgedKey] == more.Digest() {
		return nil
	}
	return blocked(fmt.Errorf("%s asks for permissions that %s does not have:\n%s\nto allow them, set annotation %s of ClusterExtension %s to %q, or set "+
		"spec.source.catalog.version to exactly %s", made.name, called(installed, made.name), more, permissions.AcknowledgedKey, s.ext.Name, more.Digest(), made.version))
}

// isOf tells whether a revision was made from the same bundle, so that only the configuration differs. Another catalog or another image may
// have something else under the same name.
func (m *content) isOf(r *olmv1.ClusterObjectSet) bool {
	return r.Annotations[olmv1.BundleNameKey] == m.name && r.Annotations[olmv1.BundleReferenceKey] == m.image && r.Annotations[contentKey] == m.digest
}

// called names the bundle of a revision; with its origin where another one has the same name.
func called(r *olmv1.ClusterObjectSet, other string) string {
	name := r.Annotations[olmv1.BundleNameKey]
	if name != other {
		return name
	}
	return fmt.Sprintf("the %s that is installed, of %s,", name, cmp.Or(r.Annotations[olmv1.BundleReferenceKey], "catalog content "+r.Annotations[contentKey]))
}

// isExact tells whether the extension asks for one version and no other: somebody has looked at that.
func isExact(ext *olmv1.ClusterExtension) bool {
	if ext.Spec.Source.Catalog == nil {
		return false
	}
	_, err := version.Parse(ext.Spec.Source.Catalog.Version)
	return err == nil
}
