package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/serving"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OwnedDefinition is a CustomResourceDefinition of an operator.
type OwnedDefinition struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
	// Versions are those that are served; the one that custom resources are stored in comes first.
	Versions []string `json:"versions,omitempty"`
	// Established: its custom resources are served. Otherwise Problem says why not.
	Established bool      `json:"established"`
	Problem     string    `json:"problem,omitempty"`
	Created     time.Time `json:"created,omitzero"`
}

// OwnedWebhook is a webhook of an operator.
type OwnedWebhook struct {
	// Kind and Object are what registers it, and Name is its name there; a CustomResourceDefinition has one without a name, which converts.
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Name   string `json:"name,omitempty"`
	// Service answers it, as NAMESPACE/NAME.
	Service string `json:"service,omitempty"`
	// Policy is Fail where requests are refused that it does not answer, and Ignore where they are let through.
	Policy string `json:"policy,omitempty"`
	// Certificate is what the Service shows, and Authority is what the API server trusts; nil is one that is not known.
	Certificate *CertificateAge `json:"certificate,omitempty"`
	Authority   *CertificateAge `json:"authority,omitempty"`
}

// CertificateAge is when a certificate was made, and when it ends. Nothing else of it is told.
type CertificateAge struct {
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
	Problem string    `json:"problem,omitempty"`
}

// Bounds of what is read of objects.
const (
	maxDefinitions = 60
	maxSecrets     = 10
	maxHooks       = 50
)

func crdRef(name string) Ref {
	return Ref{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: crdKind.Kind, Name: name}
}

// labelled finds what the revisions of a ClusterExtension control, by their labels.
func (r *OperatorReader) labelled(ctx context.Context, e *olmv1.ClusterExtension, mine map[types.UID]bool) error {
	labels := client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: e.Name}
	kinds := append(slices.Concat(ownedInNamespace, ownedAnywhere), apiextensionsv1.SchemeGroupVersion.WithKind(crdKind.Kind))
	seen := map[schema.GroupVersionKind]bool{}
	for _, kind := range kinds {
		if seen[kind] {
			continue
		}
		seen[kind] = true
		err := each(ctx, r.Reader, kind, func(m *metav1.PartialObjectMetadata) {
			if owner := metav1.GetControllerOfNoCopy(m); owner != nil && mine[owner.UID] {
				r.held.Goes = append(r.held.Goes, migrate.RefOf(m))
			}
		}, labels)
		if err := r.held.see(kind.Kind, err); err != nil {
			return err
		}
	}
	return nil
}

// around sorts what belongs to the operator, and reads definitions, webhooks and events.
func (r *OperatorReader) around(ctx context.Context) error {
	if len(r.held.unseen) > 0 {
		r.note(messages.Unseen(r.held.refused, safetext.List(r.held.unseen, shownKinds, ", "), "those of the operator are not shown"))
	}
	r.held.sort()
	var definitions, hooks []Ref
	for _, ref := range r.held.Goes {
		switch ref.Kind {
		case "Deployment": // is in the tree
		case crdKind.Kind:
			definitions = append(definitions, ref)
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			hooks = append(hooks, ref)
		case "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount":
			r.out.Roles = append(r.out.Roles, ref)
		default:
			r.out.Others = append(r.out.Others, ref)
		}
	}
	if err := r.certificates(ctx); err != nil {
		return err
	}
	for i, ref := range definitions {
		if i == maxDefinitions {
			r.note(fmt.Sprintf("%d of the %d CustomResourceDefinitions are not shown", len(definitions)-maxDefinitions, len(definitions)))
			break
		}
		if err := r.definition(ctx, ref.Name); err != nil {
			return err
		}
	}
	for _, ref := range hooks {
		if err := r.webhooks(ctx, ref); err != nil {
			return err
		}
	}
	return r.events(ctx)
}

// certificates reads those that Secrets of the operator hold, for their times alone. Who may not read Secrets is not shown the ages.
func (r *OperatorReader) certificates(ctx context.Context) error {
	read := 0
	for _, ref := range r.out.Others {
		if ref.Kind != "Secret" || read == maxSecrets {
			continue
		}
		read++
		secret := &corev1.Secret{}
		err := r.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case apierrors.IsForbidden(err):
			r.note(messages.Unseen(err, "Secrets of namespace "+ref.Namespace, "when the certificates of webhooks end is not shown"))
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", ref, err)
		}
		if s, ok := servedBy(secret); ok {
			r.secrets[ref.Namespace+"/"+ref.Name] = s
		}
	}
	return nil
}

// definition reads a CustomResourceDefinition, and the webhook that converts its custom resources.
func (r *OperatorReader) definition(ctx context.Context, name string) error {
	d, live := OwnedDefinition{Name: name}, &apiextensionsv1.CustomResourceDefinition{}
	err := r.Get(ctx, client.ObjectKey{Name: name}, live)
	switch {
	case apierrors.IsForbidden(err):
		r.note(messages.Unseen(err, "CustomResourceDefinitions", "of those of the operator only the names are shown"))
		d.Established = true // as far as the user can tell
	case apierrors.IsNotFound(err):
		d.Problem = "it is not there"
	case err != nil:
		return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	default:
		d.read(live)
		if c := live.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil {
			config := c.Webhook.ClientConfig
			hook := OwnedWebhook{Kind: crdKind.Kind, Object: name, Policy: string(admissionv1.Fail)}
			if config.Service != nil {
				hook.Service = config.Service.Namespace + "/" + config.Service.Name
			}
			r.hook(hook, config.CABundle)
		}
	}
	r.out.Definitions = append(r.out.Definitions, d)
	return nil
}

func (d *OwnedDefinition) read(live *apiextensionsv1.CustomResourceDefinition) {
	d.Kind, d.Created = live.Spec.Names.Kind, live.CreationTimestamp.Time
	for _, v := range live.Spec.Versions {
		if !v.Served {
			continue
		}
		if v.Storage {
			d.Versions = slices.Insert(d.Versions, 0, v.Name)
		} else {
			d.Versions = append(d.Versions, v.Name)
		}
	}
	for _, c := range live.Status.Conditions {
		bad := c.Type == apiextensionsv1.Terminating
		d.Established = d.Established || c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		if (c.Status == apiextensionsv1.ConditionTrue) == bad && d.Problem == "" {
			d.Problem = cmp.Or(c.Message, c.Reason)
		}
	}
}

// webhooks reads a configuration with webhooks of admission.
func (r *OperatorReader) webhooks(ctx context.Context, ref Ref) error {
	var object client.Object = &admissionv1.ValidatingWebhookConfiguration{}
	if ref.Kind == "MutatingWebhookConfiguration" {
		object = &admissionv1.MutatingWebhookConfiguration{}
	}
	err := r.Get(ctx, client.ObjectKey{Name: ref.Name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		r.out.Webhooks = append(r.out.Webhooks, OwnedWebhook{Kind: ref.Kind, Object: ref.Name})
		r.note(messages.Unseen(err, ref.Kind+"s", "who answers them is not shown"))
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", ref, err)
	}
	add := func(name string, config admissionv1.WebhookClientConfig, policy *admissionv1.FailurePolicyType) {
		hook := OwnedWebhook{Kind: ref.Kind, Object: ref.Name, Name: name, Policy: string(admissionv1.Fail)}
		if policy != nil {
			hook.Policy = string(*policy)
		}
		if config.Service != nil {
			hook.Service = config.Service.Namespace + "/" + config.Service.Name
		}
		r.hook(hook, config.CABundle)
	}
	switch object := object.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		for _, w := range object.Webhooks {
			add(w.Name, w.ClientConfig, w.FailurePolicy)
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for _, w := range object.Webhooks {
			add(w.Name, w.ClientConfig, w.FailurePolicy)
		}
	}
	return nil
}

// hook adds a webhook, with the ages of the certificates.
func (r *OperatorReader) hook(h OwnedWebhook, bundle []byte) {
	if len(r.out.Webhooks) == maxHooks {
		r.note(fmt.Sprintf("there are more than %d webhooks: the others are not shown", maxHooks))
		return
	}
	if _, newest := pool(bundle); newest != nil {
		h.Authority = &CertificateAge{From: newest.NotBefore, Until: newest.NotAfter, Problem: endOf(newest, r.Now)}
	} else if len(bundle) > 0 && len(serving.Certificates(bundle)) == 0 {
		h.Authority = &CertificateAge{Problem: "holds no certificate"}
	}
	namespace, name, _ := strings.Cut(h.Service, "/")
	for _, s := range r.secrets {
		if h.Service == "" || s.leaf.VerifyHostname(name+"."+namespace+".svc") != nil {
			continue
		}
		if h.Certificate == nil || s.leaf.NotAfter.After(h.Certificate.Until) {
			h.Certificate = &CertificateAge{From: s.leaf.NotBefore, Until: s.leaf.NotAfter, Problem: endOf(s.leaf, r.Now)}
		}
	}
	r.out.Webhooks = append(r.out.Webhooks, h)
}
