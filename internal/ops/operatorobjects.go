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
	var kinds []kindOf
	for _, kind := range append(slices.Concat(ownedInNamespace, ownedAnywhere), apiextensionsv1.SchemeGroupVersion.WithKind(crdKind.Kind)) {
		if !slices.ContainsFunc(kinds, func(k kindOf) bool { return k.GroupVersionKind == kind }) {
			kinds = append(kinds, kindOf{kind, labels})
		}
	}
	return r.held.each(ctx, r.Reader, kinds, func(m *metav1.PartialObjectMetadata) {
		if owner := metav1.GetControllerOfNoCopy(m); owner != nil && mine[owner.UID] {
			r.held.Goes = append(r.held.Goes, migrate.RefOf(m))
		}
	})
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
	if many := len(definitions); many > maxDefinitions {
		definitions = definitions[:maxDefinitions]
		r.note(fmt.Sprintf("%d of the %d CustomResourceDefinitions are not shown", many-maxDefinitions, many))
	}
	var secrets []Ref
	for _, ref := range r.out.Others {
		if ref.Kind == "Secret" && len(secrets) < maxSecrets {
			secrets = append(secrets, ref)
		}
	}
	var found map[Ref]answered
	var happened []happening
	together(2, func(i int) error {
		if i == 0 {
			found = r.ask(ctx, slices.Concat(secrets, definitions, hooks))
		} else {
			happened = r.happened(ctx)
		}
		return nil
	})
	if err := r.certificates(secrets, found); err != nil {
		return err
	}
	for _, ref := range definitions {
		if err := r.definition(ref.Name, found[ref]); err != nil {
			return err
		}
	}
	for _, ref := range hooks {
		if err := r.webhooks(ref, found[ref]); err != nil {
			return err
		}
	}
	return r.events(happened)
}

// answered is an object that was asked for, or why it cannot be had.
type answered struct {
	client.Object
	err error
}

// ask asks for objects at once.
func (r *OperatorReader) ask(ctx context.Context, refs []Ref) map[Ref]answered {
	objects := make([]client.Object, len(refs))
	failed := together(len(refs), func(i int) error {
		switch refs[i].Kind {
		case "Secret":
			objects[i] = &corev1.Secret{}
		case crdKind.Kind:
			objects[i] = &apiextensionsv1.CustomResourceDefinition{}
		case "MutatingWebhookConfiguration":
			objects[i] = &admissionv1.MutatingWebhookConfiguration{}
		default:
			objects[i] = &admissionv1.ValidatingWebhookConfiguration{}
		}
		return r.Get(ctx, client.ObjectKey{Namespace: refs[i].Namespace, Name: refs[i].Name}, objects[i])
	})
	found := map[Ref]answered{}
	for i, ref := range refs {
		found[ref] = answered{objects[i], failed[i]}
	}
	return found
}

// certificates are those that Secrets of the operator hold, for their times alone. Who may not read Secrets is not shown the ages.
func (r *OperatorReader) certificates(secrets []Ref, found map[Ref]answered) error {
	for _, ref := range secrets {
		switch err := found[ref].err; {
		case apierrors.IsNotFound(err):
			continue
		case apierrors.IsForbidden(err):
			r.note(messages.Unseen(err, "Secrets of namespace "+ref.Namespace, "when the certificates of webhooks end is not shown"))
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", ref, err)
		}
		if s, ok := servedBy(found[ref].Object.(*corev1.Secret)); ok {
			r.secrets[ref.Namespace+"/"+ref.Name] = s
		}
	}
	return nil
}

// definition adds a CustomResourceDefinition, and the webhook that converts its custom resources.
func (r *OperatorReader) definition(name string, found answered) error {
	d := OwnedDefinition{Name: name}
	switch err := found.err; {
	case apierrors.IsForbidden(err):
		r.note(messages.Unseen(err, "CustomResourceDefinitions", "of those of the operator only the names are shown"))
		d.Established = true // as far as the user can tell
	case apierrors.IsNotFound(err):
		d.Problem = "it is not there"
	case err != nil:
		return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	default:
		live := found.Object.(*apiextensionsv1.CustomResourceDefinition)
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

// webhooks adds a configuration with webhooks of admission.
func (r *OperatorReader) webhooks(ref Ref, found answered) error {
	switch err := found.err; {
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
	switch object := found.Object.(type) {
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
