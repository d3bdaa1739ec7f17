package devcluster

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/fairlead/internal/devcluster/realnode"
)

const (
	probeNamespace = metav1.NamespaceSystem
	probeLabel     = "fairlead.dev/devcluster-probe"
)

var background = metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}

// proveWorkloads runs a Deployment to availability, which takes every component, and deletes it.
func (c *Cluster) proveWorkloads(ctx context.Context) error {
	deployments := c.client.AppsV1().Deployments(probeNamespace)
	// A start that was killed may have left one.
	err := deployments.DeleteCollection(ctx, background, metav1.ListOptions{LabelSelector: probeLabel})
	if err != nil {
		return fmt.Errorf("delete the probes of earlier starts: %w", err)
	}
	labels := map[string]string{probeLabel: ""}
	image, about := "simulated", Kwok
	if c.opts.RealNode {
		image, about = realnode.PauseImage, Kubelet
	}
	probe, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "devcluster-probe-", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: ptr.To[int64](0),
					Containers:                    []corev1.Container{{Name: "probe", Image: image}},
				},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create the probe Deployment: %w", err)
	}
	available := func(ctx context.Context) error {
		now, err := deployments.Get(ctx, probe.Name, metav1.GetOptions{})
		if err == nil && now.Status.AvailableReplicas == 0 {
			err = errors.New("the probe Deployment is not available")
		}
		return err
	}
	if err := c.await(ctx, available, ControllerManager, Scheduler, about); err != nil {
		return err
	}
	c.isReady(ControllerManager)
	c.isReady(Scheduler)
	if err := deployments.Delete(ctx, probe.Name, background); err != nil {
		return fmt.Errorf("delete the probe Deployment: %w", err)
	}
	return nil
}
