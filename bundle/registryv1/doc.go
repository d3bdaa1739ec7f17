// Package registryv1 renders a registry+v1 bundle to the objects that run its operator without a ClusterServiceVersion
// in the cluster, which is how ClusterExtensions are installed. The configuration of the extension is part of the
// arguments.
//
// Everything here is a pure function of its arguments: the same bundle and options give the same objects in the same
// order, and arguments are never changed. The package talks to no cluster and makes no certificates; Rendered.Serving says
// which ones are needed. A bundle that cannot be installed is an *InvalidError with all that is wrong with it, a
// configuration that its bundle does not take is a *ConfigError.
//
// Start reading at render.go. Then:
//
//	validate.go     what is checked before anything is rendered
//	config*.go      spec.config.inline: its schema, how it is judged, what it means
//	renderer.go     the objects, in their order; package bundle renders those that both APIs have
package registryv1
