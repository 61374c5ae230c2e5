// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Transport",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaTransport", targets: ["VestaTransport"])
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    // What Swift cannot call itself: functions that need _GNU_SOURCE, and macros.
    .target(name: "CVestaTransport"),
    .systemLibrary(
      name: "CVestaHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"]), .brew(["nghttp2"])]),
    .systemLibrary(name: "CVestaTLS", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CVestaZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "VestaTransport",
      dependencies: [
        "CVestaHTTP2", "CVestaTransport", "CVestaTLS", "CVestaZlib",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaTransportTests",
      dependencies: [
        "VestaTransport", "CVestaTLS", "CVestaZlib",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropContracts", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      resources: [.copy("Peers")],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
