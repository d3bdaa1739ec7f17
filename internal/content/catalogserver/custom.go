package catalogserver

import (
	"context"
	"errors"
	"regexp"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// experimentalServer answers api.ExperimentalRegistry.
type experimentalServer struct {
	registry.UnimplementedExperimentalRegistryServer
	router
}

// acknowledgeKey is the metadata by which a client says that it knows that the service may change.
const acknowledgeKey = "x-acknowledge-experimental"

// component is what the name of a schema or package must look like.
var component = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`)

// known are the schemas that api.Registry tells of.
var known = map[string]bool{
	catalog.SchemaPackage: true, catalog.SchemaChannel: true, catalog.SchemaBundle: true, catalog.SchemaDeprecations: true,
}

// ExperimentalListPackageCustomSchemas streams the objects of a schema that belong to a package, or to none, in the order of the catalog.
func (s *experimentalServer) ExperimentalListPackageCustomSchemas(request *registry.ExperimentalListPackageCustomSchemasRequest, stream grpc.ServerStreamingServer[structpb.Struct]) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	if values := md.Get(acknowledgeKey); len(values) == 0 || values[0] != "true" {
		return nil
	}
	schema, pkg := request.GetSchema(), request.GetPackageName()
	switch {
	case schema == "":
		return status.Error(codes.InvalidArgument, "schema is required")
	case !component.MatchString(schema):
		return status.Errorf(codes.InvalidArgument, "schema %q is not made of letters, digits, dots, dashes and underscores, with a letter or digit first", schema)
	case pkg != "" && !component.MatchString(pkg):
		return status.Errorf(codes.InvalidArgument, "packageName %q is not made of letters, digits, dots, dashes and underscores, with a letter or digit first", pkg)
	}
	x, err := s.index(stream.Context())
	if err != nil {
		return err
	}
	if known[schema] {
		return nil
	}
	for object, err := range x.Objects(catalog.ObjectFilter{Schema: schema, Package: pkg}) {
		if n := catalog.JSONValues(object); err == nil && n > maxCustomValues {
			err = status.Errorf(codes.ResourceExhausted, "an object of schema %q has about %d values, more than the %d that are sent; make it smaller, or read it over HTTP",
				schema, n, maxCustomValues)
		}
		var message structpb.Struct
		if err == nil {
			err = protojson.Unmarshal(object, &message)
		}
		// An object that belongs to a package is not sent where those are asked for that belong to none.
		if err == nil && message.GetFields()["package"].GetStringValue() == pkg {
			err = stream.Send(&message)
		}
		if err != nil {
			// Give errors that have no code yet the right one
			if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				return status.FromContextError(err).Err()
			}
			if _, ok := status.FromError(err); ok {
				return err
			}
			return status.Error(codes.Internal, err.Error())
		}
	}
	return nil
}

// maxCustomValues bounds the values in an object that is sent: each takes about 150 bytes, however short it is written.
const maxCustomValues = 200_000
