package devcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const pollInterval = 25 * time.Millisecond

// await asks until the answer is no error. When time is up or a component ends before, the error has the last log lines
// of the component at fault, or of those that the question is about.
func (c *Cluster) await(ctx context.Context, question func(context.Context) error, about ...string) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	answer := errors.New("no answer")
	for {
		err := question(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // otherwise the error is only that the question was cut off
			answer = err
		}
		select {
		case <-c.failed:
			return c.failure
		case <-ctx.Done():
			why := context.Cause(ctx)
			c.mu.Lock()
			defer c.mu.Unlock()
			logs := ""
			for _, p := range c.processes {
				if slices.Contains(about, p.Name) {
					c.opts.Progress(p.Name, Failed)
					logs += "\n" + excerpt(p.Log)
				}
			}
			return fmt.Errorf("wait for %s: %w; last answer: %w%s", strings.Join(about, ", "), why, answer, logs)
		case <-ticker.C:
		}
	}
}

func (c *Cluster) nodesReady(ctx context.Context) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	ready := 0
	for _, node := range nodes.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	if ready < c.opts.Nodes {
		return fmt.Errorf("%d of %d nodes are ready", ready, c.opts.Nodes)
	}
	return nil
}
