# An image with the package: docker build -t faultline . builds it from the sources. Run it with
#   docker run --rm --device /dev/fuse --cap-add SYS_ADMIN --security-opt apparmor=unconfined \
#     -v "$PWD:/work" faultline explore --workload 'sh /work/work.sh' --check 'sh /work/check.sh'
FROM swift:6.3-bookworm AS build
WORKDIR /source
COPY . .
RUN make dist

FROM debian:13-slim
COPY --from=build /source/.build/packages/*.deb /tmp/
RUN apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /tmp/faultline_*.deb && \
    rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["faultline"]
