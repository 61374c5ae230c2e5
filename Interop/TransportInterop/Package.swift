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
  name: "TransportInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaTransportInterop", targets: ["VestaTransportInterop"]),
    .library(name: "VestaTransportInteropContracts", targets: ["VestaTransportInteropContracts"]),
    .library(name: "VestaTransportInteropFakes", targets: ["VestaTransportInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../ServiceInterop"),
  ],
  targets: [
    .target(
      name: "VestaTransportInterop",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaTransportInteropContracts",
      dependencies: [
        "VestaTransportInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaTransportInteropFakes",
      dependencies: [
        "VestaTransportInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaTransportInteropTests",
      dependencies: [
        "VestaTransportInterop", "VestaTransportInteropContracts", "VestaTransportInteropFakes",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
