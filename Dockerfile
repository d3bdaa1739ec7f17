# The manager, static and alone: docker build -t fairlead-manager .
# grpcnotrace leaves out a page that nothing shows, and with its templates a fifth of the program, which would all be in memory.
# Pin the builder by digest where you build for others: --build-arg GOLANG=golang:1.26@sha256:... The image that comes of it has no base.
ARG GOLANG=golang:1.26
FROM ${GOLANG} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags=grpcnotrace -ldflags='-s -w' -o /fairlead-manager ./cmd/fairlead-manager && mkdir -p /rootfs/var/lib/fairlead /rootfs/tmp && chmod 1777 /rootfs/tmp && chown 1001 /rootfs/var/lib/fairlead

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /rootfs/ /
COPY --from=build /fairlead-manager /fairlead-manager
USER 1001:1001
ENTRYPOINT ["/fairlead-manager"]
