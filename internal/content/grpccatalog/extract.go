package grpccatalog

import (
	"errors"
	"path"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

const (
	utilitiesVolume = "utilities"
	contentVolume   = "catalog-content"
	temporaryVolume = "tmpdir"

	utilitiesDir   = "/utilities"
	contentDir     = "/extracted-catalog"
	temporaryDir   = "/tmp/"
	copyContent    = "copy-content"
	extractUtility = "extract-utilities"
	extractContent = "extract-content"
)

// extract makes the pod take the content out of the image of the catalog, of which nothing else is run then, and serve it with opm.
func extract(spec *corev1.PodSpec, source *v1alpha1.CatalogSource, settings Settings) error {
	config := source.Spec.GrpcPodConfig.ExtractContent
	switch {
	case settings.OpmImage == "":
		return errors.New("spec.grpcPodConfig.extractContent needs an image that the manager was not given: start the manager with --opmImage")
	case settings.UtilImage == "":
		return errors.New("spec.grpcPodConfig.extractContent needs an image that the manager was not given: start the manager with --util-image")
	case config.CatalogDir == "":
		return errors.New("spec.grpcPodConfig.extractContent names no catalogDir: write the directory of the catalog in the image, such as /configs")
	}
	utilities := corev1.VolumeMount{Name: utilitiesVolume, MountPath: utilitiesDir}
	content := corev1.VolumeMount{Name: contentVolume, MountPath: contentDir}
	from, serve := []string{"--catalog.from=" + config.CatalogDir, "--catalog.to=" + path.Join(contentDir, "catalog")},
		[]string{"serve", path.Join(contentDir, "catalog")}
	mounts := []corev1.VolumeMount{content}
	spec.Volumes = append(spec.Volumes, emptyDir(utilitiesVolume), emptyDir(contentVolume))
	if config.CacheDir != "" {
		cache := path.Join(contentDir, "cache")
		from = append(from, "--cache.from="+config.CacheDir, "--cache.to="+cache)
		serve = append(serve, "--cache-dir="+cache)
	} else {
		// opm makes its own cache then, and nothing else may be written to
		spec.Volumes = append(spec.Volumes, emptyDir(temporaryVolume))
		mounts = append(mounts, corev1.VolumeMount{Name: temporaryVolume, MountPath: temporaryDir})
	}
	spec.InitContainers = append(spec.InitContainers,
		initContainer(extractUtility, settings.UtilImage, []string{"cp"},
			[]string{path.Join("/bin", copyContent), path.Join(utilitiesDir, copyContent)}, utilities),
		initContainer(extractContent, source.Spec.Image, []string{path.Join(utilitiesDir, copyContent)}, from, utilities, content),
	)
	server := &spec.Containers[0]
	server.Image, server.ImagePullPolicy = settings.OpmImage, pullPolicy(settings.OpmImage)
	server.Command, server.Args = []string{"/bin/opm"}, serve
	server.VolumeMounts = append(server.VolumeMounts, mounts...)
	server.SecurityContext.ReadOnlyRootFilesystem = ptr.To(true)
	return nil
}

func initContainer(name, image string, command, args []string, mounts ...corev1.VolumeMount) corev1.Container {
	return corev1.Container{
		Name: name, Image: image, Command: command, Args: args, VolumeMounts: mounts,
		ImagePullPolicy:          pullPolicy(image),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          &corev1.SecurityContext{ReadOnlyRootFilesystem: ptr.To(true)},
	}
}

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}
