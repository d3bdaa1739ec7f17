package crd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A CRD is applied before the pods that convert for it. Where the version before has another server, that one continues to convert until the next one
// answers: to lead to a server that does not run yet would fail every request for the custom resources.

// injectedFrom is the annotation that names the Certificate whose CA bundle cert-manager writes into an object: it goes with the server.
const injectedFrom = "cert-manager.io/inject-ca-from"

// Converter is the server whose webhook converts the custom resources of a CRD: a Service, or a URL. The zero value is none. Equal ones lead to the same
// place.
type Converter struct {
	types.NamespacedName
	Path string
	Port int32
	URL  string
}

// ConverterOf returns the converter of a CRD's spec.conversion, which may be nil.
func ConverterOf(c *apiextensionsv1.CustomResourceConversion) (by Converter) {
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return by
	}
	if url := c.Webhook.ClientConfig.URL; url != nil {
		by.URL = *url
	}
	if s := c.Webhook.ClientConfig.Service; s != nil {
		by.Namespace, by.Name, by.Port = s.Namespace, s.Name, 443 // what the API server makes of none
		if s.Port != nil {
			by.Port = *s.Port
		}
		if s.Path != nil {
			by.Path = *s.Path
		}
	}
	return by
}

// ReadConverter returns the converter of an object; the zero value where it is no CRD or cannot be read.
func ReadConverter(u *unstructured.Unstructured) Converter {
	conversion, found, _ := unstructured.NestedMap(u.Object, "spec", "conversion")
	unstructured.RemoveNestedField(conversion, "webhook", "clientConfig", "caBundle") // of no interest here, and it may be no base64
	typed := &apiextensionsv1.CustomResourceConversion{}
	isCRD := u.GetKind() == "CustomResourceDefinition" && u.GroupVersionKind().Group == apiextensionsv1.GroupName
	if !isCRD || !found || runtime.DefaultUnstructuredConverter.FromUnstructured(conversion, typed) != nil {
		return Converter{}
	}
	return ConverterOf(typed)
}

// IsService reports whether a Service converts.
func (c Converter) IsService() bool { return c.Name != "" }

// SameService reports whether both are webhooks of one Service, whatever their ports and paths.
func (c Converter) SameService(other Converter) bool {
	return c.IsService() && c.NamespacedName == other.NamespacedName
}

// Convert writes spec.conversion of a CRD as a whole. It is no apply request: another manager's fields of the same conversion could then not be removed
// again. What a webhook cannot have besides a Service is removed.
func Convert(ctx context.Context, writer client.Client, name string, desired *apiextensionsv1.CustomResourceConversion, options ...client.PatchOption) error {
	conversion := map[string]any{"strategy": desired.Strategy, "webhook": nil}
	if ConverterOf(desired).IsService() {
		conversion["webhook"] = map[string]any{
			"clientConfig":             map[string]any{"service": desired.Webhook.ClientConfig.Service, "caBundle": desired.Webhook.ClientConfig.CABundle, "url": nil},
			"conversionReviewVersions": desired.Webhook.ConversionReviewVersions,
		}
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"conversion": conversion}})
	crd := &definition{}
	crd.Name = name
	if err == nil {
		err = writer.Patch(ctx, crd, client.RawPatch(types.MergePatchType, patch), options...)
	}
	if err != nil {
		return fmt.Errorf("set the conversion of CRD %s: %w", name, err)
	}
	return nil
}

// EndConversion removes the webhook of a CRD, if that is still as it was read. The one who set the webhook owns its fields, so that
// they would be left behind if only the strategy were applied, and the API server refuses that.
func EndConversion(ctx context.Context, writer client.Client, live *definition, manager client.FieldOwner) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"resourceVersion":%q},"spec":{"conversion":{"strategy":"None","webhook":null}}}`, live.UID, live.ResourceVersion)
	crd := &definition{}
	crd.Name = live.Name
	err := writer.Patch(ctx, crd, client.RawPatch(types.MergePatchType, []byte(patch)), manager)
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("take the conversion webhook off CustomResourceDefinition %s: %w", live.Name, err)
	}
	return nil
}

// Handover is the step of a CRD's conversion from the server of one version of an operator to that of the next, while the next one is rolled out.
type Handover struct {
	// Reader is not a cache.
	Reader client.Reader
	// Since is when the rollout of the next version began: pods from before belong to the version before.
	Since metav1.Time
	// Services are those of the next version, as they are to be.
	Services []*unstructured.Unstructured
}

// Keep has a desired CRD converted by the server that converts the live one, as long as that runs.
func (h Handover) Keep(ctx context.Context, desired, live *unstructured.Unstructured) error {
	now, next := ReadConverter(live), ReadConverter(desired)
	if !now.IsService() || now == next {
		return nil
	}
	runs, err := h.runs(ctx, now, next)
	if err != nil || !runs {
		return err
	}
	conversion, _, _ := unstructured.NestedMap(live.Object, "spec", "conversion")
	if _, own, _ := unstructured.NestedString(desired.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle"); !own {
		unstructured.RemoveNestedField(conversion, "webhook", "clientConfig", "caBundle") // an injector's
	}
	annotations := desired.GetAnnotations()
	if from := live.GetAnnotations()[injectedFrom]; from != "" && annotations[injectedFrom] != "" {
		annotations[injectedFrom] = from
		desired.SetAnnotations(annotations)
	}
	return unstructured.SetNestedMap(desired.Object, conversion, "spec", "conversion")
}

// runs reports whether what converts now continues to while the next version is rolled out. Where both are the same Service, it does as long as the port
// stays and pods from before answer: those of the next version may serve the new port and path only, and may not become ready before they can read their
// custom resources.
func (h Handover) runs(ctx context.Context, now, next Converter) (bool, error) {
	same := now.SameService(next)
	for _, s := range h.Services { // one that is not of the next version stays as it is
		if !same || client.ObjectKeyFromObject(s) != now.NamespacedName {
			continue
		}
		ports, _, _ := unstructured.NestedSlice(s.Object, "spec", "ports")
		if !slices.ContainsFunc(ports, func(p any) bool {
			fields, _ := p.(map[string]any)
			return fmt.Sprint(fields["port"]) == fmt.Sprint(now.Port)
		}) {
			return false, nil
		}
		break
	}
	ready, err := endpoints(ctx, h.Reader, now)
	if err != nil || !same {
		return len(ready) > 0, err
	}
	for _, e := range ready {
		if e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
			return true, nil // of what is no pod it is taken for granted
		}
		pod := &metav1.PartialObjectMetadata{}
		pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		err := h.Reader.Get(ctx, client.ObjectKey{Namespace: now.Namespace, Name: e.TargetRef.Name}, pod)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return false, fmt.Errorf("read Pod %s/%s, which converts custom resources: %w", now.Namespace, e.TargetRef.Name, err)
		case pod.CreationTimestamp.Before(&h.Since):
			return true, nil
		}
	}
	return false, nil
}

// endpoints are the endpoints that are ready behind the port of a converter.
func endpoints(ctx context.Context, reader client.Reader, c Converter) (ready []discoveryv1.Endpoint, _ error) {
	service := &corev1.Service{}
	err := reader.Get(ctx, c.NamespacedName, service)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Service %s, which converts custom resources: %w", c.NamespacedName, err)
	}
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == c.Port })
	if i < 0 {
		return nil, nil
	}
	var list discoveryv1.EndpointSliceList
	if err := reader.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: c.Name}); err != nil {
		return nil, fmt.Errorf("read the endpoints of Service %s, which converts custom resources: %w", c.NamespacedName, err)
	}
	for _, s := range list.Items {
		leads := slices.ContainsFunc(s.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Name == nil && service.Spec.Ports[i].Name == "" || p.Name != nil && *p.Name == service.Spec.Ports[i].Name
		})
		for _, e := range s.Endpoints {
			if leads && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
				ready = append(ready, e)
			}
		}
	}
	return ready, nil
}
