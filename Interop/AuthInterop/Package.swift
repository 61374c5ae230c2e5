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
  name: "AuthInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAuthInterop", targets: ["VestaAuthInterop"]),
    .library(name: "VestaAuthInteropContracts", targets: ["VestaAuthInteropContracts"]),
    .library(name: "VestaAuthInteropFakes", targets: ["VestaAuthInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop"),
    .package(path: "../ListenerInterop"),
  ],
  targets: [
    .target(
      name: "VestaAuthInterop",
      dependencies: [.product(name: "VestaListenerInterop", package: "ListenerInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthInteropContracts",
      dependencies: [
        "VestaAuthInterop",
        .product(name: "VestaContractInterop", package: "ContractInterop"),
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthInteropFakes",
      dependencies: [
        "VestaAuthInterop",
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropFakes", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAuthInteropTests",
      dependencies: [
        "VestaAuthInterop", "VestaAuthInteropContracts", "VestaAuthInteropFakes",
        .product(name: "VestaContractInterop", package: "ContractInterop"),
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaListenerInteropContracts", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
