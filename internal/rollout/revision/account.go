package revision

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/internal/rollout/permissions"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AccountExists returns an error where the service account of an extension does not exist.
func (p Preflight) AccountExists(ctx context.Context, ext *olmv1.ClusterExtension) error {
	namespace, name := ext.Spec.Namespace, AccountOf(ext)
	if name == "" {
		return nil
	}
	account := &metav1.PartialObjectMetadata{}
	account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, account)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("service account %q not found in namespace %q: create it, or take spec.serviceAccount away to install as the manager", name, namespace)
	case err != nil:
		return fmt.Errorf("read ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return nil
}

// Account is a *permissions.Lacking where the service account of the extension may not write the objects, and another error where that cannot be told or
// it is not there. What could not be told is refused when it is written, if it is.
func (p Preflight) Account(ctx context.Context, s Change) error {
	namespace, name := s.Extension.Spec.Namespace, AccountOf(s.Extension)
	if name == "" {
		return nil
	}
	if err := p.AccountExists(ctx, s.Extension); err != nil {
		return err
	}
	rules, err := permissions.Read(ctx, p.Client, p.Client.RESTMapper(), s.Objects)
	if err != nil {
		return err
	}
	subject := permissions.ServiceAccount(namespace, name)
	missing, err := permissions.Missing(subject, rules, s.Objects)
	var incomplete *permissions.IncompleteError
	if err != nil && !errors.As(err, &incomplete) {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	return &permissions.Lacking{Extension: s.Extension.Name, Account: subject, Missing: missing, Incomplete: err}
}

// Identity is a Refusal where the admission policies are not in force that decide who may let an extension act as its account, or as the manager.
func (p Preflight) Identity(ctx context.Context, ext *olmv1.ClusterExtension) error {
	account := AccountOf(ext)
	if account != "" {
		account = ext.Spec.Namespace + "/" + account
	}
	err := p.Policies.Require(ctx, account, false)
	if errors.As(err, new(*permissions.MissingPolicyError)) {
		return Blocked(err)
	}
	return err
}

// AccountOf returns the name of the service account that an extension acts as; empty for the manager.
func AccountOf(ext *olmv1.ClusterExtension) string {
	if ext.Spec.ServiceAccount == nil {
		return ""
	}
	return ext.Spec.ServiceAccount.Name
}
