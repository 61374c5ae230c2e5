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
  name: "TransportConsumer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Interop/TransportInterop"),
    .package(path: "../../../Packages/Transport"),
  ],
  targets: [
    .executableTarget(
      name: "TransportConsumer",
      dependencies: [
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings)
  ],
  swiftLanguageModes: [.v6]
)
