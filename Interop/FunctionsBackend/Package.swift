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
  name: "FunctionsBackend",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaFunctionsBackend", targets: ["VestaFunctionsBackend"]),
    .library(name: "VestaFunctionsBackendContracts", targets: ["VestaFunctionsBackendContracts"]),
    .library(name: "VestaFunctionsBackendFakes", targets: ["VestaFunctionsBackendFakes"]),
    .library(name: "VestaHTTPFunctionsBackend", targets: ["VestaHTTPFunctionsBackend"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../ServiceInterop"),
    .package(path: "../TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaFunctionsBackend",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaHTTPFunctionsBackend",
      dependencies: [
        "VestaFunctionsBackend",
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFunctionsBackendContracts",
      dependencies: [
        "VestaFunctionsBackend", "VestaHTTPFunctionsBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFunctionsBackendFakes",
      dependencies: [
        "VestaFunctionsBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFunctionsBackendTests",
      dependencies: [
        "VestaFunctionsBackend", "VestaFunctionsBackendContracts", "VestaFunctionsBackendFakes",
        "VestaHTTPFunctionsBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
