package gates

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/internal/policies"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Lacking says that the service account of an extension may not do what is needed.
type Lacking struct {
	Extension string
	Account   permissions.Subject
	Missing   []permissions.MissingRule
	// Incomplete is why more may be missing; nil when that is all.
	Incomplete error
}

// Error ends with the one command that grants what is missing.
func (l *Lacking) Error() string {
	command, ok := permissions.Command(l.RoleName(), l.Account, l.Missing)
	if !ok {
		command = fmt.Sprintf("fairlead plan %s -o json | jq -r .missingRoles | kubectl auth reconcile -f -", l.Extension)
	}
	return permissions.Message(l.Missing, l.Incomplete) + "\nafter reading them, an administrator of the cluster grants them with: " + command
}

// RoleName is that of the roles and bindings that grant what is missing.
func (l *Lacking) RoleName() string { return l.Extension + "-installer" }

// AccountIsThere is an error where the service account of an extension is not.
func (j Judge) AccountIsThere(ctx context.Context, ext *olmv1.ClusterExtension) error {
	namespace, name := ext.Spec.Namespace, AccountOf(ext)
	if name == "" {
		return nil
	}
	account := &metav1.PartialObjectMetadata{}
	account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	err := j.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, account)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("service account %q not found in namespace %q: create it, or take spec.serviceAccount away to install as the manager", name, namespace)
	case err != nil:
		return fmt.Errorf("read ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return nil
}

// Account is a *Lacking where the service account of the extension may not write the objects, and another error where that cannot be told or
// it is not there. What could not be told is refused when it is written, if it is.
func (j Judge) Account(ctx context.Context, s Step) error {
	namespace, name := s.Extension.Spec.Namespace, AccountOf(s.Extension)
	if name == "" {
		return nil
	}
	if err := j.AccountIsThere(ctx, s.Extension); err != nil {
		return err
	}
	rules, err := permissions.Read(ctx, j.Client, j.Client.RESTMapper(), s.Objects)
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
	return &Lacking{Extension: s.Extension.Name, Account: subject, Missing: missing, Incomplete: err}
}

// Identity is a Stop where the admission policies are not in force that decide who may let an extension act as its account, or as the manager.
func (j Judge) Identity(ctx context.Context, ext *olmv1.ClusterExtension) error {
	account := AccountOf(ext)
	if account != "" {
		account = ext.Spec.Namespace + "/" + account
	}
	err := j.Policies.Require(ctx, account, false)
	if errors.As(err, new(*policies.MissingError)) {
		return Blocked(err)
	}
	return err
}

// AccountOf is the name of the service account that an extension acts as; empty for the manager.
func AccountOf(ext *olmv1.ClusterExtension) string {
	if ext.Spec.ServiceAccount == nil {
		return ""
	}
	return ext.Spec.ServiceAccount.Name
}
